import { type Issue, issue, Refusal, refuse } from '../../core/error/error.ts'
import { canonicalName, type Name, patternsOf } from '../../core/name.ts'
import type { Locked } from '../../core/release/locked.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { latest, timestamp } from '../../core/timestamp.ts'
import { type Version, type VersionIdentity, versionIdentity } from '../../core/version.ts'
import {
  all,
  column,
  first,
  LIST,
  one,
  type Queries,
  type Row,
  run,
  value,
} from '../database/statement.ts'
import { type Change, userIdOf } from './change.ts'
import { CRATE, type CrateRecord } from './crates.ts'
import { mayAdd, OWNED, ownedBy, strangerIssue } from './owners.ts'
import type { ReleaseRecord, VersionRecord } from './releases.ts'
import { RELEASES } from './releases-view.ts'

/** The release that already has a version, perhaps with different build metadata. */
export type TakenVersion = Pick<ReleaseRecord, 'id' | 'version' | 'cksum' | 'yanked' | 'line'> & {
  readonly yankReason: string | null
}

/** The records for the name and version of a release. */
export interface ExistingRelease {
  readonly crate: CrateRecord | null
  /** Whether there is no owner because the crate was added at the command line. */
  readonly isOwnerless: boolean
  /** Whether the actor is invited to be one. */
  readonly isInvited: boolean
  /** Whether the actor may add versions: an owner, an administrator if it has none, or a rule. */
  readonly mayPublish: boolean
  /** The pattern by which its versions come from CI only. */
  readonly trustedOnly: string | null
  readonly hasAdvisories: boolean
  readonly taken: TakenVersion | null
  /** This version before it was deleted; null when it was not. */
  readonly deleted: Pick<Tombstone, 'cksum' | 'reason'> | null
}

/** Reads everything that decides whether a release may be changed, in one statement. */
export async function readExisting(
  db: Queries,
  { name, version }: { readonly name: Name; readonly version: Version },
  change: Change,
): Promise<ExistingRelease> {
  const identity = versionIdentity(version)
  // The columns of `taken` are null when `takenId` is, and all but one for a new crate.
  type Taken = Pick<Row<'releases'>, 'version' | 'cksum' | 'yanked' | 'line'>
  type Found = Record<'gone' | 'reason' | 'yankReason', string | null> &
    Record<'isOwner' | 'isOwned' | 'isInvited', number> & { takenId: number | null }
  type Only = Pick<ExistingRelease, 'trustedOnly'> &
    Readonly<{ hasAdvisories: number; id: number | null }>
  const row = await one<CrateRecord & Taken & Found & Only>(
    db,
    `SELECT ${CRATE}, taken.id AS "takenId", taken.version, taken.cksum, taken.yanked, taken.line,
        CASE WHEN taken.yanked = 1 THEN taken.yank_reason END AS "yankReason",
        tombstones.cksum AS gone, tombstones.reason, ${OWNED}, "trustedOnly",
        CASE WHEN EXISTS (SELECT 1 FROM advisory_crates) THEN 1 ELSE 0 END AS "hasAdvisories"
      FROM (SELECT max(pattern) AS "trustedOnly" FROM trust_only WHERE pattern IN ${LIST}) AS trust
      LEFT JOIN crates ON crates.canonical = ?
      LEFT JOIN releases AS taken ON taken.crate_id = crates.id AND taken.identity = ?
      LEFT JOIN tombstones ON tombstones.crate_id = crates.id AND tombstones.identity = ?`,
    ...ownedBy(userIdOf(change), change.at),
    patternsOf(canonicalName(name)),
    canonicalName(name),
    identity,
    identity,
  )
  const { takenId, version: taken, cksum, yanked, line, yankReason, ...rest } = row
  const { gone, reason, isOwner, isOwned, isInvited, trustedOnly, ...more } = rest
  const { hasAdvisories, ...crate } = more
  const isThere = row.id !== null
  return {
    crate: isThere ? crate : null,
    isOwnerless: isOwned === 0,
    isInvited: isInvited === 1,
    mayPublish: mayAdd(change, name, isThere ? { isOwner, isOwned } : null),
    trustedOnly,
    hasAdvisories: hasAdvisories === 1,
    taken:
      takenId === null
        ? null
        : { id: takenId, version: taken, cksum, yanked: yanked === 1, line, yankReason },
    deleted: gone === null ? null : { cksum: gone, reason },
  }
}

/**
 * Returns why a release cannot be added: its name or version is taken, or its publisher is not an
 * owner. Empty if it can, or if this exact release already exists (a retry by an owner).
 */
export function releaseConflicts(
  { crate, isOwnerless, isInvited, mayPublish, trustedOnly, taken, deleted }: ExistingRelease,
  release: { readonly name: Name; readonly version: Version; readonly cksum: string },
  { actor, who }: Change,
): Issue[] {
  const { name, version, cksum } = release
  // All other issues would be about the other crate.
  if (crate && crate.name !== name) return [issue('name_taken', { name, existing: crate.name })]
  const issues: Issue[] = []
  if (trustedOnly !== null && who === 'user')
    issues.push(issue('trusted_only', { name, pattern: trustedOnly }))
  else if (!mayPublish && who === 'rule') issues.push(issue('trusted_token_crate', { name }))
  else if (!mayPublish)
    issues.push(strangerIssue(name, actor, { isOwned: +!isOwnerless, isInvited: +isInvited }))
  if (!crate) return issues
  const isSame = taken?.version === version && taken.cksum === cksum && !taken.yanked
  if (taken && !isSame)
    issues.push(issue('version_taken', { name, version, existing: taken.version }))
  if (deleted && deleted.cksum !== cksum)
    issues.push(issue('version_deleted', { name, version, reason: deleted.reason }))
  return issues
}

/** Checks within the transaction whether a release may be added; throws a `Refusal` if not. */
export type Permit = (tx: Queries, existing: ExistingRelease) => Promise<void>

const DAY = 86_400_000

/**
 * Refuses a new crate beyond the user's `limits.new_crates_per_day`, and a new version beyond the
 * crate's `limits.versions_per_day`; 0 means no limit. A retry does not count, nor does the operator
 * at the command line.
 */
export async function checkQuota(
  db: Queries,
  { crate, taken }: ExistingRelease,
  quota: Pick<Settings['limits'], 'new_crates_per_day' | 'versions_per_day'>,
  change: Change,
): Promise<void> {
  const max = crate ? quota.versions_per_day : quota.new_crates_per_day
  if (change.who === 'operator' || taken || max === 0) return
  const { actor, at } = change
  const since = timestamp(new Date(Date.parse(at) - DAY))
  const [text, id] = crate
    ? [VERSION_TIMES, crate.id]
    : change.who === 'rule'
      ? [RULE_TIMES, change.grant.rule]
      : [CRATE_TIMES, userIdOf(change)]
  const oldest = (await column<string>(db, text, since, latest(new Date(at)), id, max))[max - 1]
  if (oldest === undefined) return
  const excess = crate
    ? issue('versions_too_many', { name: crate.name, max })
    : issue('crates_too_many', { login: actor, max })
  const retryAfter = Math.ceil((Date.parse(oldest) + DAY - Date.parse(at)) / 1000)
  throw new Refusal([excess], { retryAfter: Math.max(1, retryAfter) })
}

const CRATE_TIMES = `SELECT created_at FROM crates
  WHERE created_at > ? AND created_at <= ? AND ? =
    (SELECT published_by FROM releases WHERE crate_id = crates.id ORDER BY id LIMIT 1)
  ORDER BY created_at DESC LIMIT ?`

const RULE_TIMES = `SELECT created_at FROM crates
  WHERE created_at > ? AND created_at <= ? AND rule_id = ? ORDER BY created_at DESC LIMIT ?`

const VERSION_TIMES = `SELECT published_at FROM releases
  WHERE published_at > ? AND published_at <= ? AND crate_id = ?
  ORDER BY published_at DESC LIMIT ?`

/** A version that was deleted and has not come back. */
export interface Tombstone {
  readonly name: Name
  readonly version: VersionIdentity
  readonly cksum: string
  /** The reason that Cargo shows; null without one. */
  readonly reason: string | null
}

const DELETED = `SELECT crates.name, identity AS version, tombstones.cksum,
    tombstones.reason
  FROM tombstones JOIN crates ON crates.id = crate_id
  WHERE NOT EXISTS (SELECT 1 FROM releases WHERE releases.cksum = tombstones.cksum)`

/** Lists the deleted versions of a crate, or of all. */
export function listTombstones(db: Queries, crateId?: number): Promise<Tombstone[]> {
  return crateId === undefined ? all(db, DELETED) : all(db, `${DELETED} AND crate_id = ?`, crateId)
}

/** Returns a text that changes with each deletion of a version. */
export function lastDeletion(db: Queries): Promise<string | null> {
  return value(db, "SELECT count(*) || ' ' || max(deleted_at) FROM tombstones")
}

/** Refuses a version that was deleted, and says why it was. */
export async function refuseDeleted(db: Queries, name: Name, version: Version): Promise<void> {
  const sql = `${DELETED} AND canonical = ? AND identity = ?`
  const tombstone = await first<Tombstone>(db, sql, canonicalName(name), versionIdentity(version))
  if (tombstone) refuse('release_deleted', { ...tombstone, version })
}

/** The number of all releases; triggers keep the same in `counts`. */
export const STORED_COUNT = '(SELECT count(*) FROM releases)'

/** Returns the number of all releases, and the highest id. */
export function storedReleases(db: Queries): Promise<{ total: number; newest: number }> {
  return one(
    db,
    `SELECT ${STORED_COUNT} AS total, (SELECT coalesce(max(id), 0) FROM releases) AS newest`,
  )
}

export interface ReleaseOfBytes extends Pick<VersionRecord, 'id' | 'version' | 'cksum'> {
  readonly name: Name
  readonly crateId: number
}

/** Returns a release that has these bytes, by default also one that is not visible; or null. */
export function releaseOfBytes(
  db: Queries,
  cksum: string,
  which: 'stored' | 'visible' = 'stored',
): Promise<ReleaseOfBytes | null> {
  const sql = `SELECT releases.id, crate_id AS "crateId", crates.name, version, cksum
    FROM ${which === 'visible' ? RELEASES : 'releases'} JOIN crates ON crates.id = crate_id
    WHERE releases.cksum = ?`
  return first(db, sql, cksum)
}

/** A release, as far as its bytes are concerned. */
export interface ReleaseBytes extends Pick<VersionRecord, 'id' | 'version' | 'cksum' | 'size'> {
  readonly name: Name
}

/** Yields pages of all releases with an id after `last` and at most `newest`, in order of id. */
export async function* releasePages(
  db: Queries,
  last = 0,
  newest = Number.MAX_SAFE_INTEGER,
): AsyncIterable<readonly ReleaseBytes[]> {
  const sql = `SELECT releases.id, crates.name, version, cksum, size
    FROM releases JOIN crates ON crates.id = crate_id
    WHERE releases.id > ? AND releases.id <= ? ORDER BY releases.id LIMIT 500`
  for (let after = last; ; ) {
    const page = await all<ReleaseBytes>(db, sql, after, newest)
    const end = page.at(-1)
    if (!end) return
    yield page
    after = end.id
  }
}

/** Deletes releases by id; their bytes are another matter. */
export async function deleteStored(tx: Queries, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await run(tx, `DELETE FROM releases WHERE id IN ${LIST}`, ids)
}

/** A version that a token has published. */
export interface PublishedWith {
  readonly name: string
  readonly version: string
  readonly at: string
  /** The client's address; null for an event without one. */
  readonly address: string | null
  readonly state: 'available' | 'yanked' | 'deleted'
}

/** Returns what a token has published since a time, oldest first. */
export function publishedWith(db: Queries, token: number, since: string): Promise<PublishedWith[]> {
  const sql = `SELECT audit.crate AS name, audit.version, audit.at, audit.address,
      CASE WHEN releases.id IS NULL THEN 'deleted' WHEN releases.yanked = 1 THEN 'yanked'
        ELSE 'available' END AS state
    FROM audit LEFT JOIN crates ON crates.name = audit.crate
    LEFT JOIN ${RELEASES} ON releases.crate_id = crates.id AND releases.version = audit.version
    WHERE audit.action = 'publish' AND audit.token_id = ? AND audit.at >= ?
    ORDER BY audit.id`
  return all(db, sql, token, since)
}

/** Returns what releases ship with; nothing of those published before that was read. */
export async function releaseLocks(
  db: Queries,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Locked>> {
  const sql = `SELECT id, locked FROM ${RELEASES} WHERE locked <> '[]' AND id IN ${LIST}`
  const rows = await all<{ id: number; locked: string }>(db, sql, ids)
  return new Map(rows.map(({ id, locked }) => [id, JSON.parse(locked)]))
}

/** Returns up to 500 releases after an id whose lock files nobody has read. */
export function unreadLocks(db: Queries, after: number) {
  const sql = `SELECT releases.id, crate_id AS "crateId", crates.name, version, cksum, size
    FROM releases JOIN crates ON crates.id = crate_id
    WHERE locked IS NULL AND releases.id > ? ORDER BY releases.id LIMIT 500`
  return all<ReleaseOfBytes & { readonly size: number }>(db, sql, after)
}

/** Keeps what a release ships with. */
export async function writeLock(tx: Queries, id: number, locked: Locked): Promise<void> {
  await run(tx, 'UPDATE releases SET locked = ? WHERE id = ?', JSON.stringify(locked), id)
}
