import { parseEntry } from '../../../core/entry/parse.ts'
import { renderEntry } from '../../../core/entry/render.ts'
import { type Issue, issue, refuse, refuseErrors } from '../../../core/error/error.ts'
import { canonicalName, type Name } from '../../../core/name.ts'
import { lookAlikeSkeleton } from '../../../core/policy/look-alike.ts'
import type { Release } from '../../../core/release/release.ts'
import { type Version, versionIdentity } from '../../../core/version.ts'
import type { Database } from '../database/database.ts'
import { addEvent } from './event.ts'
import { keepListing } from './listing.ts'
import { mark, touch } from './marks.ts'
import {
  type Change,
  type CrateRecord,
  findCrate,
  findTwin,
  ownsCrate,
  type Queries,
} from './record.ts'
import { markNewRelease } from './release-marks.ts'
import { tombstone } from './removal.ts'

/** What identifies a release. */
export interface Publication {
  readonly name: Name
  readonly version: Version
  readonly cksum: string
}

/** What became of an addition. */
export interface Added {
  readonly outcome: 'added' | 'present'
  readonly crateId: number
}

/**
 * What stands in the way of a release: its name or version being taken, its publisher not being an owner. Empty when
 * nothing does, or when this very release is already there (a retry by an owner).
 */
export async function objections(
  tx: Queries,
  release: Publication,
  change: Change,
): Promise<Issue[]> {
  const existing = await findCrate(tx, canonicalName(release.name))
  if (!existing) return []
  // Whatever else may be said would be said of the other crate.
  if (existing.name !== release.name)
    return [issue('name_taken', { name: release.name, existing: existing.name })]
  const issues: Issue[] = []
  if (!(await mayChange(tx, existing, change))) {
    issues.push(issue('not_owner', { name: existing.name, login: change.actor }))
  }
  const twin = await findTwin(tx, existing.id, release.version)
  if (twin && !isSame(twin, release)) {
    issues.push(
      issue('version_taken', {
        name: release.name,
        version: release.version,
        existing: twin.version,
      }),
    )
  }
  const deleted = await tombstone(tx, existing.id, release.version)
  if (deleted !== null && deleted !== release.cksum) {
    issues.push(issue('version_deleted', { name: release.name, version: release.version }))
  }
  return issues
}

/**
 * Adds a release: with it, in one transaction, the crate if it is new, its first owner, the audit event and the marks
 * of what is to be rendered. Says `present`, and changes nothing, when this very release is already there (a retry).
 * Refuses what `objections` finds.
 */
export async function addRelease(
  database: Database,
  release: Release,
  change: Change,
): Promise<Added> {
  return database.transaction().execute(async tx => {
    refuseErrors(await objections(tx, { ...release, cksum: release.entry.cksum }, change))
    const existing = await findCrate(tx, canonicalName(release.name))
    if (existing && (await findTwin(tx, existing.id, release.version))) {
      return { outcome: 'present', crateId: existing.id }
    }
    const generation = await addEvent(tx, change, {
      action: 'publish',
      crate: release.name,
      version: release.version,
    })
    const crateId = existing?.id ?? (await insertCrate(tx, release.name, change))
    const releaseId = await insertRelease(tx, crateId, release, change)
    await touch(tx, crateId, generation)
    await mark(tx, { kind: 'file', subject: releaseId, generation })
    await markNewRelease(tx, crateId, { id: releaseId, version: release.version }, generation)
    await keepListing(tx, crateId, generation)
    return { outcome: 'added', crateId }
  })
}

/** Yanks or unyanks a release; true when that changed something. Refuses unknown ones and whoever is not an owner. */
export async function setYanked(
  database: Database,
  name: Name,
  version: Version,
  yanked: boolean,
  change: Change,
): Promise<{ crateId: number; changed: boolean }> {
  return database.transaction().execute(async tx => {
    const crate = await findCrate(tx, canonicalName(name))
    if (!crate) return refuse('crate_unknown', { name })
    if (!(await mayChange(tx, crate, change)))
      refuse('not_owner', { name: crate.name, login: change.actor })
    const release = await findTwin(tx, crate.id, version)
    if (!release) return refuse('release_unknown', { name: crate.name, version })
    if (release.version !== version)
      refuse('release_other_build', { name: crate.name, version, existing: release.version })
    if (release.yanked === Number(yanked)) return { crateId: crate.id, changed: false }
    const line = renderEntry({ ...parseEntry(release.line), yanked })
    await tx
      .updateTable('releases')
      .set({ yanked: Number(yanked), line })
      .where('id', '=', release.id)
      .execute()
    const action = yanked ? 'yank' : 'unyank'
    const generation = await addEvent(tx, change, {
      action,
      crate: crate.name,
      version: release.version,
    })
    await touch(tx, crate.id, generation)
    await mark(tx, { kind: 'release', subject: release.id, generation })
    await keepListing(tx, crate.id, generation)
    return { crateId: crate.id, changed: true }
  })
}

/** Owners only; a crate that has none (taken in at the command line) is in the hands of administrators. */
async function mayChange(tx: Queries, crate: CrateRecord, change: Change): Promise<boolean> {
  if (!change.user || (await ownsCrate(tx, crate.id, change.user.id))) return true
  return change.user.admin && !(await hasOwner(tx, crate.id))
}

/** The same bytes under the same version: what a client sends again that never saw its answer. */
function isSame(
  twin: { version: string; cksum: string; yanked: number },
  release: Publication,
): boolean {
  return twin.version === release.version && twin.cksum === release.cksum && twin.yanked === 0
}

async function hasOwner(tx: Queries, crateId: number): Promise<boolean> {
  return (
    (await tx
      .selectFrom('owners')
      .select('user_id')
      .where('crate_id', '=', crateId)
      .executeTakeFirst()) !== undefined
  )
}

/** A new crate; whoever publishes it is its first owner. */
export async function insertCrate(tx: Queries, name: Name, change: Change): Promise<number> {
  const { id } = await tx
    .insertInto('crates')
    .values({
      name,
      canonical: canonicalName(name),
      skeleton: lookAlikeSkeleton(name),
      created_at: change.at,
      generation: 0,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  if (change.user) {
    await tx
      .insertInto('owners')
      .values({ crate_id: id, user_id: change.user.id, added_at: change.at, added_by: null })
      .execute()
  }
  return id
}

/** A new release, without crate, event and marks. */
export async function insertRelease(
  tx: Queries,
  crateId: number,
  release: Release,
  change: Change,
): Promise<number> {
  const { id } = await tx
    .insertInto('releases')
    .values({
      crate_id: crateId,
      version: release.version,
      identity: versionIdentity(release.version),
      cksum: release.entry.cksum,
      size: release.size,
      yanked: Number(release.entry.yanked),
      line: renderEntry(release.entry),
      about: JSON.stringify(release.about),
      readme: release.readme,
      published_at: release.entry.pubtime,
      published_by: change.user?.id ?? null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
