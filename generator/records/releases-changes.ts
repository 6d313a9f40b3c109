import { renderEntry } from '../../core/entry/entry.ts'
import { readEntry } from '../../core/entry/parse.ts'
import { refuse, refuseErrors } from '../../core/error/error.ts'
import type { Name } from '../../core/name.ts'
import { isReason } from '../../core/notes/notes.ts'
import type { Release } from '../../core/release/release.ts'
import { type Version, type VersionIdentity, versionIdentity } from '../../core/version.ts'
import type { Database } from '../database/connection.ts'
import { pace } from '../database/pace.ts'
import { insert, type Queries, run, upsert } from '../database/statement.ts'
import {
  addEvent,
  type Change,
  firstOwnerOf,
  makeChange,
  type Permitted,
  requireRight,
  userIdOf,
} from './change.ts'
import {
  type CrateEdit,
  type Follower,
  type Records,
  type Told,
  tellFollowers,
} from './crate-change.ts'
import { type CrateRecord, findCrate, insertCrate } from './crates.ts'
import { addOwner, requireOwner, userOf } from './owners.ts'
import { listVersions, type NewRelease, type VersionRecord } from './releases.ts'
import {
  type ExistingRelease,
  type Permit,
  readExisting,
  releaseConflicts,
} from './releases-stored.ts'

/** The result of recording a release; the crate is as the transaction leaves it. */
export interface ReleaseOutcome {
  readonly outcome: 'added' | 'present'
  readonly crate: CrateRecord
  /** The change that followers are still to be told of; null when nothing has changed. */
  readonly edit: CrateEdit | null
}

/**
 * Adds a release in a transaction, together with the crate if it is new, its first owner and the
 * audit event; the caller calls `followReleases`. Returns `present` without any change when this
 * exact release exists (a retry). Throws the `Refusal` of `permit` or of `releaseConflicts`.
 */
export async function insertAdded(
  tx: Queries,
  release: Release,
  change: Change,
  permit?: Permit,
): Promise<ReleaseOutcome> {
  const by = await requireRight(tx, change, 'publisher')
  const existing = await readExisting(tx, release, by)
  await permit?.(tx, existing)
  refuseErrors(releaseConflicts(existing, { ...release, cksum: release.entry.cksum }, by))
  if (existing.crate && existing.taken)
    return { outcome: 'present', crate: existing.crate, edit: null }
  const { name: crate, version, entry } = release
  const generation = await addEvent(tx, by, { action: 'publish', crate, version })
  // Of its own: others may be published in the same transaction.
  const own = { generation, actor: by.actor }
  const told = [{ type: 'release.published', version, cksum: entry.cksum, ...own } as const]
  return insertNew(tx, release, by, existing, { generation, createdAt: by.at, told })
}

type Recording = Pick<CrateEdit, 'generation' | 'told'> &
  Pick<CrateRecord, 'createdAt'> &
  Pick<ImportSource, 'id'>

async function insertNew(
  tx: Queries,
  release: Omit<Release, 'files'>,
  by: Permitted,
  existing: ExistingRelease,
  { createdAt, id, ...recorded }: Recording,
): Promise<ReleaseOutcome> {
  const isNew = existing.crate === null
  const first = isNew ? firstOwnerOf(by) : null
  const { generation } = recorded
  const rule = by.who === 'rule' ? by.grant.rule : null
  const crate =
    existing.crate ?? (await insertCrate(tx, release.name, createdAt, generation, rule, id))
  if (first) await addOwner(tx, crate.id, first, createdAt)
  const added = [await insertRelease(tx, crate.id, release, by)]
  const edit = { crate, isNew, owner: first && userOf(first), added, by, ...recorded }
  return { outcome: 'added', crate: { ...crate, generation }, edit }
}

/** Inserts a release, without crate, event, or marks, and returns it as stored. */
async function insertRelease(
  tx: Queries,
  crateId: number,
  release: Omit<Release, 'files'>,
  change: Change,
): Promise<NewRelease> {
  const { version, entry } = release
  const { cksum, yanked, pubtime: publishedAt } = entry
  const [deps, locked] = [JSON.stringify(entry.deps), JSON.stringify(release.locked)]
  // A line with thousands of features takes milliseconds to render, and again to store.
  await pace()
  const [about, line] = [JSON.stringify(release.about), renderEntry(entry)]
  await pace()
  const id = await insert(tx, 'releases', {
    crate_id: crateId,
    version,
    identity: versionIdentity(version),
    cksum,
    size: release.size,
    yanked: Number(yanked),
    line,
    about,
    readme: release.readme,
    contents: JSON.stringify(release.contents),
    ...{ published_at: publishedAt, published_by: userIdOf(change), locked },
    job: change.who === 'rule' ? JSON.stringify(change.grant.job) : null,
  })
  return { id, version, cksum, yanked, size: release.size, publishedAt, about, deps, locked }
}

/** Tells the followers of releases that a transaction has recorded, once per crate. */
export async function followReleases(
  tx: Queries,
  followers: readonly Follower[],
  recorded: readonly ReleaseOutcome[],
): Promise<void> {
  const edits = new Map<number, CrateEdit>()
  for (const { edit } of recorded) {
    const before = edit && edits.get(edit.crate.id)
    if (!edit) continue
    const added = [...(before?.added ?? []), ...(edit.added ?? [])]
    const told = [...(before?.told ?? []), ...(edit.told ?? [])]
    edits.set(edit.crate.id, { ...edit, ...before, added, told, generation: edit.generation })
  }
  for (const edit of edits.values()) await tellFollowers(tx, followers, edit)
}

/** What becomes of a release, and why (null for no reason); what is absent stays. */
export interface YankChange {
  readonly yanked?: boolean | undefined
  readonly reason?: string | null | undefined
}

/**
 * Yanks or unyanks a release, or says why it is yanked; `changed` is false when all was so before.
 * Refuses an unknown release, a reason without a yank, and who is no owner or administrator.
 */
export async function setYanked(
  { database, followers }: Records,
  name: Name,
  version: Version,
  to: boolean | YankChange,
  change: Change,
): Promise<{ crateId: number; name: Name; changed: boolean }> {
  return makeChange(database, change, 'user', async (tx, by) => {
    const { crate, taken } = await readExisting(tx, { name, version }, by)
    if (!crate) return refuse('crate_unknown', { name })
    const stored = { crateId: crate.id, name: crate.name }
    const as = await requireOwner(tx, crate, by)
    if (!taken) return refuse('release_unknown', { name: crate.name, version })
    if (taken.version !== version)
      refuse('release_other_build', { name: crate.name, version, existing: taken.version })
    const wanted: YankChange = typeof to === 'boolean' ? { yanked: to } : to
    const { yanked = taken.yanked, reason: given } = wanted
    if (typeof given === 'string' && !yanked)
      refuse(wanted.yanked === false ? 'yank_message_unyank' : 'yank_message_unyanked')
    if (typeof given === 'string' && !isReason(given)) refuse('reason_invalid')
    const reason = yanked ? (given === undefined ? taken.yankReason : given) : null
    const isWords = taken.yanked === yanked
    if (isWords && taken.yankReason === reason) return { ...stored, changed: false }
    const line = isWords ? taken.line : renderEntry({ ...readEntry(taken.line), yanked })
    const sql = 'UPDATE releases SET yanked = ?, line = ?, yank_reason = ? WHERE id = ?'
    await run(tx, sql, Number(yanked), line, reason, taken.id)
    const detail = { ...(as === 'administrator' && { as }), ...(reason !== null && { reason }) }
    const generation = await addEvent(tx, by, {
      action: isWords ? 'yank-reason' : yanked ? 'yank' : 'unyank',
      crate: crate.name,
      version: taken.version,
      ...(Object.keys(detail).length > 0 && { detail }),
    })
    const type = yanked ? 'release.yanked' : 'release.unyanked'
    const told = isWords ? [] : [{ type, version, reason } as const]
    await tellFollowers(tx, followers, { crate, altered: [taken], isWords, told, by, generation })
    return { ...stored, changed: true }
  })
}

/**
 * Removes releases from the records. The crate and its owners stay, so that no one else can take
 * its name. A version may come back only with the same bytes: lock files contain its checksum.
 */
export async function removeReleases(
  { database, followers }: Records,
  crate: CrateRecord,
  removed: readonly VersionRecord[],
  reason: string | null,
  change: Change,
): Promise<void> {
  await makeChange(database, change, 'operator', async (tx, by) => {
    let generation = crate.generation
    const told: Told[] = []
    for (const { version, cksum } of removed) {
      const row = { crate_id: crate.id, identity: versionIdentity(version), cksum, reason }
      await upsert(tx, 'tombstones', ['crate_id', 'identity'], { ...row, deleted_at: by.at })
      const event = { action: 'delete', crate: crate.name, version, detail: { cksum, reason } }
      generation = await addEvent(tx, by, event)
      told.push({ type: 'release.deleted', version, generation })
    }
    await tellFollowers(tx, followers, { crate, removed, told, by, generation })
  })
}

/** A crate of this registry, as it is spelled here, with its versions. */
export interface KnownCrate {
  readonly name: Name
  readonly releases: ReadonlyMap<VersionIdentity, VersionRecord>
}

/** Finds a crate by name, with its versions; null when there is none. */
export async function knownCrate(database: Database, name: Name): Promise<KnownCrate | null> {
  const crate = await findCrate(database, name)
  if (!crate) return null
  const versions = await listVersions(database, crate.id)
  const releases = new Map(versions.map(record => [versionIdentity(record.version), record]))
  return { name: crate.name, releases }
}

/** Where releases come from, and who becomes the owner of crates that have none. */
export interface ImportSource {
  readonly source: string
  readonly owner: number | null
  /** The id of a crate that is new, where that is not the next one. */
  readonly id?: number
  /** Whether versions that were deleted come back: the operator has named the file. */
  readonly revives?: boolean
}

/**
 * Records a release of another registry, as `insertAdded` does, but without an event: `logImport`
 * follows. One whose version already has these bytes is `present`, even if yanked. Throws a
 * `Refusal` where another one has its place, and for a version that was deleted, unless the
 * source revives it.
 */
export async function importRelease(
  tx: Queries,
  release: Omit<Release, 'files'>,
  change: Change,
  { owner, id, revives }: Omit<ImportSource, 'source'>,
): Promise<ReleaseOutcome> {
  const by = await requireRight(tx, change, 'operator')
  const { name, version, entry } = release
  const existing = await readExisting(tx, release, by)
  const { taken } = existing
  const isHere = taken?.version === version && taken.cksum === entry.cksum
  const present = existing.crate?.name === name && isHere ? existing.crate : null
  if (!present) refuseErrors(releaseConflicts(existing, { name, version, cksum: entry.cksum }, by))
  if (!taken && existing.deleted && !revives) refuse('import_deleted', { name, version })
  const state = { generation: 0, createdAt: entry.pubtime ?? by.at, ...(id && { id }) }
  const recorded = present
    ? ({ outcome: 'present', crate: present, edit: null } as const)
    : await insertNew(tx, release, by, existing, state)
  // Gives an owner to a crate that has none.
  if (existing.isOwnerless && owner !== null)
    await addOwner(tx, recorded.crate.id, { user: owner }, by.at)
  return recorded
}

/** Adds the event of an import; returns its number, the generation of all that it changes. */
export async function addImport(
  tx: Queries,
  change: Change,
  detail: { readonly source: string; readonly versions: number },
): Promise<number> {
  const by = await requireRight(tx, change, 'operator')
  return addEvent(tx, by, { action: 'import', detail })
}

/** Adds one event for all that a transaction has imported, and gives them its generation. */
export async function logImport(
  tx: Queries,
  recorded: readonly ReleaseOutcome[],
  change: Change,
  { source }: Pick<ImportSource, 'source'>,
): Promise<ReleaseOutcome[]> {
  const versions = recorded.filter(({ edit }) => edit !== null).length
  if (versions === 0) return [...recorded]
  const generation = await addImport(tx, change, { source, versions })
  return recorded.map(outcome => ({
    ...outcome,
    edit: outcome.edit && { ...outcome.edit, generation },
  }))
}
