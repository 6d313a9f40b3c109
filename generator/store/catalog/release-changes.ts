import { readEntry } from '../../../core/entry/parse.ts'
import { renderEntry } from '../../../core/entry/render.ts'
import { type Issue, refuse, refuseErrors } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import type { Release } from '../../../core/release/release.ts'
import {
  compareVersions,
  type Version,
  type VersionIdentity,
  versionIdentity,
} from '../../../core/version.ts'
import type { Database } from '../database/connection.ts'
import { all, LIST, type Queries, type Row, run, upsert, value } from '../database/statement.ts'
import { addEvent, type Change, makeChange, type Permitted, requireRight } from './change.ts'
import { addOwner, type CrateRecord, findCrate, insertCrate, requireOwner } from './crates.ts'
import { sumDownloads } from './downloads/due.ts'
import { listAdded, relist } from './listing.ts'
import { type MarkSubject, marksOf, touchCrate } from './marks.ts'
import { insertRelease, listVersions, type ReleaseRecord, type VersionRecord } from './releases.ts'
import { readTarget, releaseConflicts, type Target } from './target.ts'

/** The result of adding a release; the crate is as the transaction left it. */
export interface Added {
  readonly outcome: 'added' | 'present'
  readonly crate: CrateRecord
}

/** Checks within the transaction whether a release may be added; throws a `Refusal` if not. */
export type Permit = (tx: Queries, target: Target) => Promise<void>

/** The kinds of marks whose files show only one release. */
const OWN_MARKS = ['file', 'release'] as const

/**
 * Adds a release in one transaction, together with the crate if it is new, its first owner, the
 * audit event, and the marks for rendering. Returns `present` without any change when this exact
 * release already exists (a retry). Throws the `Refusal` of `permit` or of `releaseConflicts`.
 */
export async function addRelease(
  database: Database,
  release: Release,
  change: Change,
  permit: Permit = async () => undefined,
): Promise<Added> {
  return database.transaction(tx => insertAdded(tx, release, change, permit))
}

/** Does what `addRelease` does, in a transaction of the caller. */
export async function insertAdded(
  tx: Queries,
  release: Release,
  change: Change,
  permit: Permit,
): Promise<Added> {
  const by = await requireRight(tx, change)
  const target = await readTarget(tx, release, by)
  await permit(tx, target)
  refuseErrors(releaseConflicts(target, { ...release, cksum: release.entry.cksum }, by))
  if (target.crate && target.taken) return { outcome: 'present', crate: target.crate }
  const { name, version } = release
  const generation = await addEvent(tx, by, { action: 'publish', crate: name, version })
  const crate = target.crate ?? (await insertCrate(tx, name, by, generation))
  const added = await insertRelease(tx, crate.id, release, by)
  const marks: MarkSubject[] = [
    ...OWN_MARKS.map(kind => ({ kind, subject: added.id })),
    ...(target.crate ? nextRelease(await listIdentities(tx, crate.id), version) : []),
    ...(await listAdded(tx, crate, added)),
  ]
  await touchCrate(tx, crate, marks, generation)
  return { outcome: 'added', crate: { ...crate, generation } }
}

type ReleaseVersion = Pick<VersionRecord, 'id' | 'version'>

/**
 * Returns the versions of a crate, without build metadata. They are read from a database index, as
 * one text: a row for each would take three times as long.
 */
async function listIdentities(tx: Queries, crateId: number): Promise<ReleaseVersion[]> {
  const text = `SELECT json_group_array(json_object('id', id, 'version', identity))
    FROM releases WHERE crate_id = ?`
  return JSON.parse((await value<string>(tx, text, crateId)) ?? '[]') as ReleaseVersion[]
}

/**
 * Returns the marks of the next higher version after `version` was added or removed: its pages show
 * the changes since the version before it.
 */
function nextRelease(
  versions: readonly ReleaseVersion[],
  version: Version,
): readonly MarkSubject[] {
  let next: ReleaseVersion | null = null
  for (const one of versions) {
    if (compareVersions(one.version, version) <= 0) continue
    if (next === null || compareVersions(one.version, next.version) < 0) next = one
  }
  return next ? marksOf('release', [next.id]) : []
}

/**
 * Yanks or unyanks a release; `changed` is false when it already was. Refuses an unknown release
 * and an actor who is neither an owner nor an administrator; the audit log names the latter so.
 */
export async function setYanked(
  database: Database,
  name: Name,
  version: Version,
  yanked: boolean,
  change: Change,
): Promise<{ crateId: number; changed: boolean }> {
  return makeChange(database, change, async (tx, by) => {
    const { crate, taken } = await readTarget(tx, { name, version }, by)
    if (!crate) return refuse('crate_unknown', { name })
    const as = by.user && (await requireOwner(tx, crate, { ...by.user, login: by.actor }))
    if (!taken) return refuse('release_unknown', { name: crate.name, version })
    if (taken.version !== version)
      refuse('release_other_build', { name: crate.name, version, existing: taken.version })
    if (taken.yanked === yanked) return { crateId: crate.id, changed: false }
    const line = renderEntry({ ...readEntry(taken.line), yanked })
    const text = 'UPDATE releases SET yanked = ?, line = ? WHERE id = ?'
    await run(tx, text, Number(yanked), line, taken.id)
    const generation = await addEvent(tx, by, {
      action: yanked ? 'yank' : 'unyank',
      crate: crate.name,
      version: taken.version,
      ...(as === 'administrator' && { detail: { as } }),
    })
    const marks = await relist(tx, crate, await listVersions(tx, crate.id))
    await touchCrate(tx, crate, [{ kind: 'release', subject: taken.id }, ...marks], generation)
    return { crateId: crate.id, changed: true }
  })
}

/** A release whose index line mentions another crate's name, perhaps not as a dependency. */
export type Mention = Readonly<
  Pick<Row<'crates'>, 'name'> & Pick<Row<'releases'>, 'version' | 'line'>
>

/** Returns the releases of other crates whose index line mentions `crate`; reads every release. */
export function mentions(database: Database, crate: CrateRecord): Promise<Mention[]> {
  return all(
    database,
    `SELECT crates.name, releases.version, releases.line
      FROM releases JOIN crates ON crates.id = releases.crate_id
      WHERE releases.crate_id <> ? AND instr(releases.line, ?) > 0`,
    crate.id,
    JSON.stringify(crate.name),
  )
}

/**
 * Removes releases from the catalog. The crate and its owners stay, so that no one else can take
 * its name. A version may come back only with the same bytes: lock files contain its checksum.
 */
export async function removeReleases(
  database: Database,
  crate: CrateRecord,
  releases: readonly ReleaseRecord[],
  change: Change,
): Promise<void> {
  await makeChange(database, change, async (tx, by) => {
    const removed = new Set(releases.map(one => one.id))
    const left = (await listVersions(tx, crate.id)).filter(one => !removed.has(one.id))
    const marks = [
      { kind: 'whole', subject: crate.id } as const,
      ...releases.flatMap(one => nextRelease(left, one.version)),
      // The listing refers to releases: they are deleted after it has changed.
      ...(await relist(tx, crate, left)),
    ]
    let generation = crate.generation
    for (const { version, cksum } of releases) {
      const row = { crate_id: crate.id, identity: versionIdentity(version), cksum }
      await upsert(tx, 'tombstones', ['crate_id', 'identity'], { ...row, deleted_at: by.at })
      const event = { action: 'delete', crate: crate.name, version, detail: { cksum } }
      generation = await addEvent(tx, by, event)
    }
    const text = `DELETE FROM marks WHERE kind IN ${LIST} AND subject IN ${LIST}`
    await run(tx, text, OWN_MARKS, [...removed])
    await run(tx, `DELETE FROM releases WHERE id IN ${LIST}`, [...removed])
    await sumDownloads(tx, crate.id, new Date(by.at))
    await touchCrate(tx, crate, marks, generation)
  })
}

/** A crate of this registry, as it is spelled here, with its versions. */
export interface KnownCrate {
  readonly name: Name
  readonly releases: ReadonlyMap<VersionIdentity, VersionRecord>
}

/** The result for one release of a batch. */
export type Landing =
  | { readonly outcome: 'added' | 'present' }
  | { readonly outcome: 'refused'; readonly issues: Issue[] }

/** Finds a crate by name, with its versions; null when there is none. */
export async function knownCrate(database: Database, name: Name): Promise<KnownCrate | null> {
  const crate = await findCrate(database, name)
  if (!crate) return null
  const versions = await listVersions(database, crate.id)
  const releases = new Map(versions.map(one => [versionIdentity(one.version), one]))
  return { name: crate.name, releases }
}

/**
 * Adds releases of another registry in one transaction: records, audit events, marks. Each is added
 * or refused separately; one whose version already has these bytes is `present`, even if yanked.
 * `owner` becomes the owner of crates that have none.
 */
export async function importReleases(
  database: Database,
  releases: readonly Omit<Release, 'files'>[],
  change: Change,
  import_: { readonly source: string; readonly owner: number | null },
): Promise<Landing[]> {
  return makeChange(database, change, async (tx, by) => {
    const landings: Landing[] = []
    const touched = new Map<number, Imported>()
    for (const release of releases)
      landings.push(await importRelease(tx, release, by, import_, touched))
    // Once per crate, however many versions were added: a listing reads all of them.
    for (const { crate, releaseIds, generation } of touched.values()) {
      const versions = await listVersions(tx, crate.id)
      const marks = [
        ...marksOf('file', releaseIds),
        // A version's page compares it to the one before, which may have been added now.
        ...marksOf(
          'release',
          versions.map(one => one.id),
        ),
        ...(await relist(tx, crate, versions)),
      ]
      await touchCrate(tx, crate, marks, generation)
    }
    return landings
  })
}

/** A crate to which an import has added releases. */
interface Imported {
  readonly crate: CrateRecord
  readonly releaseIds: number[]
  readonly generation: number
}

async function importRelease(
  tx: Queries,
  release: Omit<Release, 'files'>,
  change: Permitted,
  { source, owner }: { readonly source: string; readonly owner: number | null },
  touched: Map<number, Imported>,
): Promise<Landing> {
  const { name, version, entry } = release
  const target = await readTarget(tx, release, change)
  const { taken } = target
  // Gives an owner to a crate that has none.
  const adopt = async (crate: CrateRecord) => {
    if (target.isOwnerless && owner !== null) await addOwner(tx, crate.id, owner, change.at)
  }
  const isHere = taken?.version === version && taken.cksum === entry.cksum
  if (target.crate?.name === name && isHere) {
    await adopt(target.crate)
    return { outcome: 'present' }
  }
  const issues = releaseConflicts(target, { name, version, cksum: entry.cksum }, change)
  if (issues.length > 0) return { outcome: 'refused', issues }
  const event = { action: 'import', crate: name, version, detail: { source } }
  const generation = await addEvent(tx, change, event)
  const published = { ...change, at: entry.pubtime ?? change.at }
  const crate = target.crate ?? (await insertCrate(tx, name, published, generation))
  await adopt(crate)
  const { id } = await insertRelease(tx, crate.id, release, change)
  const releaseIds = [...(touched.get(crate.id)?.releaseIds ?? []), id]
  touched.set(crate.id, { crate, releaseIds, generation })
  return { outcome: 'added' }
}
