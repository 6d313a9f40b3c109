import type { ColumnType, Generated } from 'kysely'
import type { CanonicalName, Name } from '../../../core/name.ts'
import type { Version, VersionIdentity } from '../../../core/version.ts'
import type { MarkKind } from './mark-kinds.ts'

/** Bytes in a column, as the driver gives and takes them. None are empty: libsql fails on those. */
type Bytes = ColumnType<ArrayBuffer, Uint8Array, Uint8Array>

/**
 * The records of the registry. Times are RFC 3339 in UTC with whole seconds, flags 0 or 1, lists
 * JSON text.
 */
export interface Tables {
  crates: {
    id: Generated<number>
    name: Name
    canonical: CanonicalName
    /** What is equal for names that are easily mistaken for each other; see the policy. */
    skeleton: string
    created_at: string
    /** Audit event of the last change; grows with every change of the crate. */
    generation: number
  }
  releases: {
    id: Generated<number>
    crate_id: number
    version: Version
    /** The version without build metadata: unique in a crate. */
    identity: VersionIdentity
    cksum: string
    size: number
    yanked: number
    /** The index line as it is published, without the line end. */
    line: string
    /** Description fields as JSON. */
    about: string
    readme: string | null
    published_at: string | null
    published_by: number | null
  }
  owners: { crate_id: number; user_id: number; added_at: string; added_by: number | null }
  invitations: { crate_id: number; user_id: number; invited_at: string; invited_by: number | null }
  /** Versions that were deleted: they stay taken by the bytes they had. */
  tombstones: { crate_id: number; identity: VersionIdentity; cksum: string; deleted_at: string }
  users: {
    id: Generated<number>
    login: string
    canonical: string
    name: string | null
    admin: number
    /** What `daemon/password.ts` makes of one; null for who has none. */
    password: string | null
    created_at: string
    /** Since when neither token nor login is good; null for who is not locked out. */
    locked_at: string | null
  }
  /** Logins in the browser; one that ended has no row. */
  sessions: {
    id: Generated<number>
    user_id: number
    /** SHA-256 of what the cookie holds, hex. */
    hash: string
    agent: string
    created_at: string
    last_seen_at: string
    expires_at: string
  }
  /**
   * One-time links to set a password; one that was used has no row. `hash` is the SHA-256 of its
   * secret, hex.
   */
  password_links: { hash: string; user_id: number; expires_at: string }
  tokens: {
    id: Generated<number>
    user_id: number
    name: string
    /** SHA-256 of the token, hex. */
    hash: string
    scopes: string | null
    crates: string | null
    created_at: string
    expires_at: string | null
    last_used_at: string | null
    revoked_at: string | null
  }
  audit: {
    id: Generated<number>
    at: string
    action: string
    user_id: number | null
    actor: string
    token_id: number | null
    crate: string | null
    version: string | null
    detail: string | null
    address: string | null
  }
  /**
   * What has changed in the truth and is not yet rendered; written in the transaction of the
   * change.
   */
  marks: {
    kind: MarkKind
    subject: number
    generation: number
    /** How often its work failed. */
    attempts: Generated<number>
    /** When failed work is tried again; null for what is due. */
    retry_at: string | null
    /** What it failed with. */
    error: string | null
  }
  /** Parts of pages that took too much to render: they are plain text, or not there. */
  plain_pages: {
    release_id: number
    what: 'readme' | 'source'
    /** The format of pages that it was tried for. */
    format: string
    /** Why, as a clause for the page, and what else the operator should know. */
    because: string
    detail: string | null
    at: Generated<string>
  }
  /** How many rows a table has, kept by triggers. */
  counts: { what: 'crates' | 'releases' | 'terms'; n: number }
  facts: { key: string; value: string }

  // Derived from crates and releases in the transaction of each change: what lists and searches
  // read. See `generator/store/catalog/search/search.ts`.

  /** What a list shows of a crate; a crate without releases has no row. */
  listings: {
    crate_id: number
    canonical: CanonicalName
    /** The release that stands for the crate: see `newestVersion`. */
    newest_id: number
    /** The unyanked release that was published last; the newest when all are yanked. */
    latest_id: number
    /** The highest unyanked release that is no pre-release. */
    stable_id: number | null
    versions: number
    /** 1 when every version is yanked. */
    yanked: number
    updated_at: string
  }
  /** Which crate's newest version depends on which name of this registry. */
  dependents: { dependency: CanonicalName; dependent: CanonicalName; crate_id: number }
  /** How many crates' canonical names begin with a text; one that none does has no row. */
  prefixes: { prefix: string; crates: number }
  /** What can be searched for, and how many crates it finds. */
  terms: {
    id: Generated<number>
    term: string
    crates: number
    hash: number
    /** 1 when it has bitmaps, too. */
    common: Generated<number>
  }
  /** Which term finds which crate; the lower the rank, the earlier it is shown. */
  postings: { term_id: number; rank: number; crate_id: number }
  /** Bitmaps: which crates of a block a common term finds with ranks of a class. */
  blocks: { term_id: number; block: number; class: number; crates: Bytes }
  /** How long the canonical names of the crates of a block are: a byte each. */
  name_lengths: { block: number; lengths: Bytes }
}
