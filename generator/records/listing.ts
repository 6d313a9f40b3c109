import { type Dependency, dependencyNames, dependencyOn } from '../../core/entry/entry.ts'
import { type CanonicalName, canonicalName, type Name } from '../../core/name.ts'
import type { Slice } from '../../core/search/layout.ts'
import { highestVersion, isPrerelease, newestVersion, type Version } from '../../core/version.ts'
import {
  all,
  column,
  first,
  insertAll,
  LIST,
  type Queries,
  type Row,
  run,
  upsert,
} from '../database/statement.ts'
import type { CrateRecord } from './crates.ts'
import type { NewRelease, StoredMetadata, VersionRecord } from './releases.ts'
import { DEPENDENTS, LISTING } from './releases-view.ts'

type Listing = Omit<Row<'listings'>, 'dependents'>

/** The state of a crate for lists, with the metadata of its newest version. */
export type CrateState = Listing & StoredMetadata

/** A stored state, with the newest version, and the highest if that is another. */
type StoredState = CrateState &
  Pick<Row<'releases'>, 'version'> & { readonly highest: Row<'releases'>['version'] | null }

/** A crate on which the newest version of another one depended, or depends now. */
export interface DependencyUse {
  readonly id: number
  readonly canonical: CanonicalName
  /** How many crates depend on it: before a change, and after it. */
  readonly before: number
  readonly after: number
}

/** How a listing changes; a state is null while a crate has no versions. */
export interface ListingChange {
  readonly before: CrateState | null
  readonly after: CrateState | null
  /** The crates whose pages show this one among their dependents, or did so. */
  readonly uses: readonly DependencyUse[]
}

/**
 * Brings the listing of a crate, and its rows of `dependents`, in line with its versions: with
 * `versions`, or where that is null, with what is listed and the unyanked ones of `added`. Call it
 * in the transaction of the change, and before releases are deleted.
 */
export async function changeListing(
  tx: Queries,
  crate: CrateRecord,
  { versions, added, isNew = false }: ListedVersions,
): Promise<ListingChange> {
  const before = isNew ? null : await readListing(tx, crate.id)
  const listing = versions
    ? listingOf(crate, versions, versions.length)
    : listingOf(crate, [...outstanding(before), ...added], (before?.versions ?? 0) + added.length)
  if (listing) await upsert(tx, 'listings', ['crate_id'], listing)
  else await run(tx, 'DELETE FROM listings WHERE crate_id = ?', crate.id)
  const after = listing && { ...listing, ...(await metadataOf(tx, listing, before, added)) }
  if (isSameNewest(before, after)) return { before, after, uses: [] }
  return { before, after, uses: await changeDependents(tx, crate, before, after) }
}

interface ListedVersions {
  readonly versions: readonly VersionRecord[] | null
  readonly added: readonly NewRelease[]
  /** Whether it is certain that the crate is not listed yet. */
  readonly isNew?: boolean
}

/** Returns whether lists show a crate under the same labels and dependencies as before. */
export function isSameNewest(before: CrateState | null, after: CrateState | null): boolean {
  return before?.newest_id === after?.newest_id && before?.yanked === after?.yanked
}

/** Returns the listing of a crate; null when it has no versions. */
export function readListing(tx: Queries, crateId: number): Promise<StoredState | null> {
  return first(tx, LISTING, crateId)
}

/** The newest version, the highest and the latest time are enough to represent all. */
function outstanding(before: StoredState | null): Omit<VersionRecord, 'cksum'>[] {
  if (!before) return []
  const { max_id: id, highest: version } = before
  const rest = { size: before.bytes, publishedAt: before.updated_at }
  const isYanked = before.yanked === 1
  return [
    { id: before.newest_id, version: before.version, yanked: isYanked, ...rest },
    ...(id === null || version === null ? [] : [{ id, version, yanked: false, ...rest }]),
  ]
}

function listingOf(
  crate: CrateRecord,
  releases: readonly Omit<VersionRecord, 'cksum'>[],
  versions: number,
): Listing | null {
  const newest = newestVersion(releases)
  if (!newest) return null
  const highest = highestVersion(releases) ?? newest
  const isStable = !newest.yanked && !isPrerelease(newest.version)
  const times = releases.map(version => version.publishedAt ?? crate.createdAt)
  return {
    crate_id: crate.id,
    canonical: canonicalName(crate.name),
    newest_id: newest.id,
    latest_id: (releases.findLast(version => !version.yanked) ?? newest).id,
    stable_id: isStable ? newest.id : null,
    max_id: highest.id === newest.id ? null : highest.id,
    versions,
    yanked: Number(newest.yanked),
    bytes: newest.size,
    updated_at: times.reduce((last, time) => (time > last ? time : last), crate.createdAt),
  }
}

async function metadataOf(
  tx: Queries,
  { newest_id: id, crate_id: crateId }: Listing,
  before: CrateState | null,
  added: readonly NewRelease[],
): Promise<StoredMetadata> {
  const row = before?.newest_id === id ? before : added.find(release => release.id === id)
  const newest = row ?? (await readListing(tx, crateId))
  if (!newest) throw new Error('the listing that was stored is not there')
  return { about: newest.about, deps: newest.deps }
}

/** Changes on which crates a crate depends, writing only the differences. */
async function changeDependents(
  tx: Queries,
  { id, name }: CrateRecord,
  before: CrateState | null,
  after: CrateState | null,
): Promise<readonly DependencyUse[]> {
  const [old, now] = [dependenciesOf(before), dependenciesOf(after)]
  const gone = new Map([...old].filter(([dependency, from]) => now.get(dependency) !== from))
  const come = new Map([...now].filter(([dependency, from]) => old.get(dependency) !== from))
  const dependent = canonicalName(name)
  if (gone.size > 0) {
    const sql = `DELETE FROM dependents WHERE dependent = ? AND dependency IN ${LIST}`
    await run(tx, sql, dependent, [...gone.keys()])
  }
  const rows = Array.from(come, ([dependency, isElsewhere]) => {
    return { dependency, dependent, crate_id: id, elsewhere: Number(isElsewhere) }
  })
  await insertAll(tx, 'dependents', rows)
  const names = [...new Set([...old.keys(), ...come.keys()])]
  if (names.length === 0) return []
  const sql = `SELECT crates.id, crates.canonical, coalesce(listings.dependents, 0) AS after
    FROM crates LEFT JOIN listings ON listings.crate_id = crates.id
    WHERE crates.canonical IN ${LIST}`
  return (await all<Omit<DependencyUse, 'before'>>(tx, sql, names)).map(use => {
    const more = Number(come.has(use.canonical)) - Number(gone.has(use.canonical))
    return { ...use, before: use.after - more }
  })
}

/** Returns the names that a crate needs here, each with whether it takes it from elsewhere. */
function dependenciesOf(state: CrateState | null): ReadonlyMap<CanonicalName, boolean> {
  // A crate with only yanked versions is not listed as a dependent.
  if (!state || state.yanked === 1) return new Map()
  const names = dependencyNames(JSON.parse(state.deps) as Dependency[])
  names.delete(state.canonical)
  return names
}

/** Returns the ids of the crates whose newest version depends on a crate, by name. */
export function listDependents(
  db: Queries,
  dependency: CanonicalName,
  { limit, offset }: Slice,
): Promise<number[]> {
  const sql = `SELECT crate_id FROM dependents
    WHERE dependency = ? ORDER BY dependent LIMIT ? OFFSET ?`
  return column(db, sql, dependency, limit, offset)
}

/** A crate whose newest version depends on another, with the kind of dependency. */
export interface Dependent extends NonNullable<ReturnType<typeof dependencyOn>> {
  readonly name: Name
  readonly version: Version
}

/** Returns at most `limit` of the crates whose newest version depends on a crate, by name. */
export async function readDependents(
  db: Queries,
  dependency: CanonicalName,
  limit: number,
): Promise<Dependent[]> {
  const rows = await all<
    Pick<Row<'crates'>, 'name'> & Pick<Row<'releases'>, 'version'> & { deps: string }
  >(db, DEPENDENTS, dependency, limit)
  return rows.flatMap(({ name, version, deps }) => {
    const how = dependencyOn(JSON.parse(deps) as Dependency[], dependency)
    return how ? [{ name, version, ...how }] : []
  })
}

/**
 * Returns the ids of the crates that depend on a crate of this name in another registry: their
 * pages say whether this registry has one, too.
 */
export function namesakesOf(db: Queries, dependency: CanonicalName): Promise<number[]> {
  const sql = 'SELECT crate_id FROM dependents WHERE dependency = ? AND elsewhere = 1'
  return column(db, sql, dependency)
}
