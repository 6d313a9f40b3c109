import { type Dependency, dependencyNames } from '../../../core/entry/entry.ts'
import type { About } from '../../../core/manifest/manifest.ts'
import { type CanonicalName, canonicalName } from '../../../core/name.ts'
import { SITEMAP_CRATES } from '../../../core/paths/tree.ts'
import { stepOf } from '../../../core/search/files/columns.ts'
import { highestVersion, isPrerelease, newestVersion } from '../../../core/version.ts'
import type { Database } from '../database/connection.ts'
import { listDaemons } from '../database/daemons.ts'
import { SITE } from '../database/mark-kinds.ts'
import { type BeforeUpgrade, PLIMSOLL_SCHEMA, requireNone } from '../database/schema/migrations.ts'
import {
  all,
  column,
  first,
  LIST,
  one,
  type Queries,
  type Row,
  run,
  upsert,
} from '../database/statement.ts'
import { type CrateRecord, crateRecords, eachCrate } from './crates.ts'
import { readFact, writeFact } from './facts.ts'
import { changeLabels, type Labels, labelsOf, weighLabels } from './labels.ts'
import { type MarkSubject, marksOf, setMarks } from './marks.ts'
import { countPrefixes, uncountPrefixes } from './pages/prefixes.ts'
import { listVersions, type VersionRecord } from './releases.ts'

/** Raise it when the same catalog gets different listings: an upgrade then derives them again. */
const LISTINGS_FORMAT = '10'

type Listing = Omit<Row<'listings'>, 'dependents'>

/** The current listing of a crate, with its newest version, and its highest if that is another. */
type Listed = Row<'listings'> &
  Said &
  Pick<Row<'releases'>, 'version'> & { readonly highest: Row<'releases'>['version'] | null }

/** The stored metadata of a version. */
type Said = Pick<Row<'releases'>, 'about'> & {
  /** The `deps` of its index line. */
  readonly deps: string
}

/**
 * Updates everything that lists read about a crate, and returns the marks of what has to follow:
 * the search, and the pages that show it, which are its own, those of the crates it depends on, and
 * the registry's. Call it in the transaction of the change, and before releases are deleted:
 * `versions` are those that remain. A crate without releases is in no list.
 */
export async function relist(
  tx: Queries,
  crate: CrateRecord,
  versions: readonly VersionRecord[],
): Promise<MarkSubject[]> {
  const before = await readListing(tx, crate.id)
  return changeListing(tx, crate, before, listingOf(crate, versions))
}

/** Does what `relist` does after an unyanked version was added, without reading the others. */
export async function listAdded(
  tx: Queries,
  crate: CrateRecord,
  added: VersionRecord & Said,
): Promise<MarkSubject[]> {
  const before = await readListing(tx, crate.id)
  // The newest version, the highest and the latest time are enough to represent the others.
  const after = listingOf(crate, before ? [...outstanding(before), added] : [added])
  const versions = (before?.versions ?? 0) + 1
  return changeListing(tx, crate, before, after && { ...after, versions }, added)
}

function outstanding(before: Listed): Omit<VersionRecord, 'cksum'>[] {
  const { max_id: id, highest: version } = before
  const facts = { size: before.bytes, publishedAt: before.updated_at }
  const isYanked = before.yanked === 1
  return [
    { id: before.newest_id, version: before.version, yanked: isYanked, ...facts },
    ...(id === null || version === null ? [] : [{ id, version, yanked: false, ...facts }]),
  ]
}

/**
 * Derives all listings again if they are missing, or of another format that no daemon keeps;
 * `beforeUpgrade` may refuse that.
 */
export async function refreshListings(
  database: Database,
  progress?: (step: string, done: number, total: number) => void,
  beforeUpgrade?: BeforeUpgrade,
): Promise<void> {
  const isCurrent = async (db: Queries) => (await readFact(db, 'listings')) === LISTINGS_FORMAT
  if (await isCurrent(database)) return
  await database.transaction(async tx => {
    if (await isCurrent(tx)) return
    const before = await readFact(tx, 'listings')
    if (before !== null) {
      await beforeUpgrade?.(tx, `lists of format ${before}`, `lists of format ${LISTINGS_FORMAT}`)
      requireNone(await listDaemons(tx), PLIMSOLL_SCHEMA, 'to derive lists and search again')
    }
    // The listings first, which each row of `dependents` counts.
    for (const table of ['listings', 'dependents', 'crate_labels', 'labels', 'prefixes'] as const)
      await run(tx, `DELETE FROM ${table}`)
    const total = await crateRecords(tx)
    let done = 0
    for await (const crate of eachCrate(tx)) {
      progress?.('upgrading lists', done++, total)
      await setMarks(
        tx,
        await relist(tx, crate, await listVersions(tx, crate.id)),
        crate.generation,
      )
    }
    await writeFact(tx, 'listings', LISTINGS_FORMAT)
  })
}

/** Returns whether the listings have the format of another version. */
export async function hasOtherListings(db: Queries): Promise<boolean> {
  return ![null, LISTINGS_FORMAT].includes(await readFact(db, 'listings'))
}

function ownersOf(tx: Queries, crateId: number): Promise<number[]> {
  return column(tx, 'SELECT user_id FROM owners WHERE crate_id = ?', crateId)
}

function readListing(tx: Queries, crateId: number): Promise<Listed | null> {
  return first(
    tx,
    `SELECT listings.crate_id, listings.canonical, newest_id, latest_id, stable_id, max_id,
      versions, listings.yanked, updated_at, bytes, dependents,
      releases.version, releases.about, releases.line ->> 'deps' AS deps, highest.version AS highest
      FROM listings JOIN releases ON releases.id = listings.newest_id
      LEFT JOIN releases AS highest ON highest.id = listings.max_id
      WHERE listings.crate_id = ?`,
    crateId,
  )
}

/** Returns the listing of a crate with these versions; null when there are none. */
function listingOf(
  crate: CrateRecord,
  versions: readonly Omit<VersionRecord, 'cksum'>[],
): Listing | null {
  const newest = newestVersion(versions)
  if (!newest) return null
  const highest = highestVersion(versions) ?? newest
  const isStable = !newest.yanked && !isPrerelease(newest.version)
  const times = versions.map(one => one.publishedAt ?? crate.createdAt)
  return {
    crate_id: crate.id,
    canonical: canonicalName(crate.name),
    newest_id: newest.id,
    latest_id: (versions.findLast(one => !one.yanked) ?? newest).id,
    stable_id: isStable ? newest.id : null,
    max_id: highest.id === newest.id ? null : highest.id,
    versions: versions.length,
    yanked: Number(newest.yanked),
    bytes: newest.size,
    updated_at: times.reduce((last, time) => (time > last ? time : last), crate.createdAt),
  }
}

/**
 * Writes the listing of a crate and, if its newest version changed, the data derived from it (from
 * `added`, if given).
 */
async function changeListing(
  tx: Queries,
  crate: CrateRecord,
  before: Listed | null,
  after: Listing | null,
  added: Said | null = null,
): Promise<MarkSubject[]> {
  const canonical = canonicalName(crate.name)
  if (after) await upsert(tx, 'listings', ['crate_id'], after)
  else await run(tx, 'DELETE FROM listings WHERE crate_id = ?', crate.id)
  if (after && !before) await countPrefixes(tx, canonical)
  if (before && !after) await uncountPrefixes(tx, canonical)
  const isOther = (before === null) !== (after === null)
  const marks: MarkSubject[] = [
    { kind: 'site', subject: SITE },
    { kind: 'views', subject: SITE },
    { kind: 'list', subject: crate.id },
    { kind: 'search', subject: crate.id },
    { kind: 'map', subject: Math.floor(crate.id / SITEMAP_CRATES) },
    { kind: 'page', subject: crate.id },
    ...marksOf('namesake', isOther ? [crate.id] : []),
    ...marksOf('user', await ownersOf(tx, crate.id)),
  ]
  const old = before ? relationsOf(before, before) : NOTHING
  if (before?.newest_id === after?.newest_id && before?.yanked === after?.yanked)
    return [...marks, ...marksOf('label', old.labels.keys())]
  const text = "SELECT about, releases.line ->> 'deps' AS deps FROM releases WHERE id = ?"
  const newest = after && (added ?? (await one<Said>(tx, text, after.newest_id)))
  const now = after && newest ? relationsOf(after, newest) : NOTHING
  return [...marks, ...(await changeRelations(tx, crate.id, canonical, old, now))]
}

/** What a crate is listed under: its newest version's labels, and dependencies here. */
interface Relations {
  readonly labels: Labels
  /** Each with whether it is taken from another registry. */
  readonly dependencies: ReadonlyMap<CanonicalName, boolean>
}

const NOTHING: Relations = { labels: new Map(), dependencies: new Map() }

/** Changes the labels and dependencies of a crate. */
async function changeRelations(
  tx: Queries,
  crateId: number,
  canonical: CanonicalName,
  old: Relations,
  now: Relations,
): Promise<MarkSubject[]> {
  const gone = [...old.dependencies].filter(([one, from]) => now.dependencies.get(one) !== from)
  const come = [...now.dependencies].filter(([one, from]) => old.dependencies.get(one) !== from)
  if (gone.length > 0) {
    const text = `DELETE FROM dependents WHERE dependent = ? AND dependency IN ${LIST}`
    await run(tx, text, canonical, [...new Map(gone).keys()])
  }
  if (come.length > 0) {
    const text = `INSERT INTO dependents (dependency, dependent, crate_id, elsewhere)
      SELECT value ->> 0, ?, ?, CAST(value ->> 1 AS INTEGER) FROM json_each(?)`
    const rows = come.map(([one, isElsewhere]) => [one, Number(isElsewhere)])
    await run(tx, text, canonical, crateId, rows)
  }
  // The pages of the dependencies show their dependents.
  const dependencies = [...old.dependencies.keys(), ...new Map(come).keys()]
  const text = `SELECT 'page' AS kind, id AS subject FROM crates WHERE canonical IN ${LIST}`
  const pages = dependencies.length > 0 ? await all<MarkSubject>(tx, text, dependencies) : []
  const labels = await changeLabels(tx, crateId, old.labels, now.labels)
  const added = new Set(new Map(come).keys())
  const left = new Set(new Map(gone).keys())
  const ranks = [
    ...(await reranked(
      tx,
      [...added].filter(one => !left.has(one)),
      -1,
    )),
    ...(await reranked(
      tx,
      [...left].filter(one => !added.has(one)),
      1,
    )),
  ]
  return [...pages, ...labels, ...marksOf('search', ranks)]
}

/**
 * Orders those of some crates anew that have come to another step with one dependent more or less:
 * before, there was one `more`. Returns their ids.
 */
async function reranked(
  tx: Queries,
  names: readonly CanonicalName[],
  more: 1 | -1,
): Promise<number[]> {
  if (names.length === 0) return []
  const text = `SELECT crate_id, dependents FROM listings WHERE canonical IN ${LIST}`
  const rows = await all<Pick<Row<'listings'>, 'crate_id' | 'dependents'>>(tx, text, names)
  const moved = rows.filter(row => stepOf(row.dependents) !== stepOf(row.dependents + more))
  for (const { crate_id, dependents } of moved) await weighLabels(tx, crate_id, dependents)
  return moved.map(row => row.crate_id)
}

function relationsOf({ canonical, yanked }: Listing, { about, deps }: Said): Relations {
  const { keywords, categories } = JSON.parse(about) as About
  // A crate with only yanked versions is not listed as a dependent, and has no labels.
  const isYanked = yanked === 1
  const dependencies = dependencyNames(isYanked ? [] : (JSON.parse(deps) as Dependency[]))
  dependencies.delete(canonical)
  return {
    labels: labelsOf(isYanked ? { keywords: [], categories: [] } : { keywords, categories }),
    dependencies,
  }
}
