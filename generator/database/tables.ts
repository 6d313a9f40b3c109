import type { CanonicalName, Name } from '../../core/name.ts'
import type { Version, VersionIdentity } from '../../core/version.ts'
import type { DerivedTables } from './derived-tables.ts'

/** A number of downloads: all of them, and those of the last 90 days as in `DayCounts`. */
interface DownloadColumns {
  total: number
  last_day: number
  days: string
}

/** The records. Times are RFC 3339 in UTC, in whole seconds; flags are 0 or 1; lists are JSON. */
export interface Tables extends DerivedTables {
  crates: {
    id: number
    name: Name
    canonical: CanonicalName
    /** Equal for names that are easily mistaken for each other; see the policy. */
    skeleton: string
    created_at: string
    /** The audit event of the last change; grows with every change to the crate. */
    generation: number
    /** The rule that created it, or did before it was removed; null for people. */
    rule_id: number | null
  }
  releases: {
    id: number
    crate_id: number
    version: Version
    /** The version without build metadata; unique within a crate. */
    identity: VersionIdentity
    cksum: string
    size: number
    yanked: number
    /** The index line as published, without the line end. */
    line: string
    /** Description fields as JSON. */
    about: string
    readme: string | null
    /** Counts of its files as JSON; NULL or `null` if they are not known. */
    contents: string | null
    published_at: string | null
    published_by: number | null
    /** The job that published it, as JSON (`core/trust/job.ts`); null for people. */
    job: string | null
    yank_reason: string | null
    /** What its `Cargo.lock` names, as JSON (`Locked`); null for one published before. */
    locked: string | null
  }
  /** Which jobs of CI systems may publish what. */
  trust_rules: {
    id: number
    /** The name of its section in the settings. */
    issuer: string
    /** A crate as it was written, or a prefix and `*`; canonical in `pattern`. */
    name: string
    pattern: string
    /** The crate, if it was there when the rule was written. */
    crate_id: number | null
    claims: string
    pins: string
    /** The first owner of crates that it creates: a user, or a group. */
    owner_id: number | null
    owner_group: number | null
    created_by: number | null
    created_at: string
    used_at: string | null
  }
  /** The keys by which an exchange looks up the rules that may match. */
  trust_keys: { issuer: string; key: string; rule_id: number }
  /** Tokens of jobs, until they expire; `hash`: SHA-256, hex. `rules`: ids as JSON. */
  trust_tokens: {
    id: number
    hash: string
    rules: string
    job: string
    created_at: string
    expires_at: string
  }
  /** Tokens of issuers that were exchanged, and are not again. */
  trust_used: { issuer: string; token: string; ends_at: string }
  /** Crates, and prefixes with `*`, whose versions come from CI only. */
  trust_only: { pattern: string; is_prefix: number }
  owners: { crate_id: number; user_id: number; added_at: string; added_by: number | null }
  invitations: { crate_id: number; user_id: number; invited_at: string; invited_by: number | null }
  /** Deleted versions: they may come back only with the same bytes. */
  tombstones: {
    crate_id: number
    identity: VersionIdentity
    cksum: string
    deleted_at: string
    /** What Cargo is told; null if none was given. */
    reason: string | null
  }
  users: {
    id: number
    login: string
    canonical: string
    name: string | null
    admin: number
    /** The hash by `accounts/password.ts`; null for a user without a password. */
    password: string | null
    created_at: string
    /** Since when no token or login is accepted; null for a user who is not locked. */
    locked_at: string | null
    /** Since when the user is removed, who is locked as well; the name stays taken. */
    removed_at: string | null
    /** 1 for an account of a machine, in which nobody can log in. */
    machine: number
    /** The administrator who added it; null for the operator and for a first login. */
    made_by: number | null
  }
  /** What identifies people at an issuer: its URL, and a value that it never gives again. */
  identities: {
    issuer: string
    subject: string
    user_id: number
    linked_at: string
    /** Null until the first login there. */
    logged_in_at: string | null
  }
  /**
   * The groups of a user, as of their last login at an issuer, or given by hand (`local`). `names`
   * has a line break before and after each; they count until a time.
   */
  user_groups: { user_id: number; issuer: string; names: string; until: string }
  /** Groups that own crates or have a title; `section` is the issuer's name in the settings. */
  groups: { id: number; issuer: string; name: string; section: string; title: string | null }
  group_owners: { crate_id: number; group_id: number; added_at: string; added_by: number | null }
  /** Names that users had before they were renamed; they stay taken. */
  former_logins: { canonical: string; user_id: number }
  /** Browser sessions; one that has ended has no row. */
  sessions: {
    id: number
    user_id: number
    /** SHA-256 of the cookie's value, hex. */
    hash: string
    agent: string
    created_at: string
    last_seen_at: string
    expires_at: string
    /** How it was begun; null for a password, as of versions before. */
    way: 'password' | 'link' | 'oidc' | null
  }
  /** One-time links to set a password, until they are used. `hash`: SHA-256 of the secret, hex. */
  password_links: {
    hash: string
    user_id: number
    expires_at: string
    /** The administrator who made it; null for the operator. */
    made_by: number | null
  }
  tokens: {
    id: number
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
    id: number
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
  /** Why a crate, or the versions that fit a requirement (else `*`), should not be used. */
  deprecations: {
    crate_id: number
    requirement: string
    reason: string
    /** A crate here or an https URL; null for none. */
    successor: string | null
    at: string
  }
  /**
   * Known holes: the files of `advisories/` are `own`, all others `given`. `content` is a JSON list
   * of advisories with one id; empty for one that is gone, until its file is.
   */
  advisories: { id: number; name: string; origin: 'own' | 'given'; content: string; sum: string }
  /** The crates, of any registry, that advisories are about. */
  advisory_crates: { crate: CanonicalName; advisory_id: number }
  /** The webhooks of the settings; `target` is a hash of the URL, `events` has blanks between. */
  webhooks: { name: string; target: string; events: string; ended_at: string | null }
  /** What webhooks tell: still to be sent while `due_at` (with milliseconds) is not null. */
  deliveries: {
    id: number
    webhook: string
    /** The same on every attempt. */
    message: string
    type: string
    crate_id: number | null
    generation: number
    data: string
    at: string
    attempts: number
    due_at: string | null
    result: string | null
  }
  /** Versions of upstreams that administrators have exempted from the hold. */
  upstream_allowed: {
    upstream: string
    crate: CanonicalName
    version: Version
    at: string
    actor: string
  }
  /** Changes to the records that are not yet rendered; written in the transaction of the change. */
  marks: {
    kind: string
    subject: number
    generation: number
    attempts: number
    /** When failed work is tried again; null when it is due. */
    retry_at: string | null
    error: string | null
  }
  /** Kept by triggers; `search` grows when files that searches read have changed. */
  counts: { what: 'releases' | 'search' | 'bytes'; n: number }
  facts: { key: string; value: string }
  release_downloads: { release_id: number } & DownloadColumns
  /** The sums over the releases of a crate. */
  crate_downloads: { crate_id: number } & DownloadColumns & {
      /** The downloads of the last 90 days when a download was last counted. */
      recent: number
      /** When its files were last marked to be rendered, and when they are to be marked again. */
      shown_at: string | null
      due_at: string | null
    }
  /** Downloads of the whole registry, also of releases that were deleted since. */
  registry_downloads: { day: number; n: number }
  /** How far access logs were imported: `sum` is the SHA-256 of the first `bytes`, shortened. */
  imported_logs: {
    id: number
    /** SHA-256 of the first line, shortened. */
    first_line: string
    bytes: number
    sum: string
    imported_at: string
  }
}
