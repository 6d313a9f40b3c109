import type { Generated } from 'kysely'
import type { BlockTables } from './blocks.ts'
import type { ListingTables } from './listings.ts'
import type { MarkKind } from './mark-kinds.ts'

/**
 * The records of the registry. Times are RFC 3339 in UTC with whole seconds, flags 0 or 1, lists
 * JSON text.
 */
export interface Tables extends ListingTables, BlockTables {
  crates: {
    id: Generated<number>
    name: string
    canonical: string
    /** What is equal for names that are easily mistaken for each other; see the policy. */
    skeleton: string
    created_at: string
    /** Audit event of the last change; grows with every change of the crate. */
    generation: number
  }
  releases: {
    id: Generated<number>
    crate_id: number
    version: string
    /** The version without build metadata: unique in a crate. */
    identity: string
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
  tombstones: { crate_id: number; identity: string; cksum: string; deleted_at: string }
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
  counts: { what: 'crates' | 'releases' | 'terms'; n: number }
  facts: { key: string; value: string }
}
