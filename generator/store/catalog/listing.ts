import { parseEntry } from '../../../core/entry/parse.ts'
import type { About } from '../../../core/manifest/manifest.ts'
import { type CanonicalName, canonicalName, type Name } from '../../../core/name.ts'
import { SITEMAP_CRATES } from '../../../core/paths/pages.ts'
import { blockOf } from '../../../core/search/buckets.ts'
import { termsOf } from '../../../core/search/terms.ts'
import { isPrerelease, newestVersion } from '../../../core/version.ts'
import { inChunks } from '../database/chunks.ts'
import type { Database } from '../database/database.ts'
import { SITE } from '../database/mark-kinds.ts'
import type { Queries } from './change.ts'
import { type CrateRecord, eachCrate } from './crates.ts'
import { readFact, writeFact } from './facts.ts'
import { type MarkSubject, marksOf, setMarks } from './marks.ts'
import { listVersions, type VersionRecord } from './releases.ts'
import { keepNameLength } from './search/block-changes.ts'
import { countPrefixes, uncountPrefixes } from './search/prefixes.ts'
import { type MovedTerms, moveTerms } from './search/terms.ts'

/** Raise it when an equal catalog makes other listings: an upgraded registry makes them again. */
const LISTINGS_FORMAT = '5'

/** What a crate was moved from and to: the names it depends on, and the files of the search. */
export interface Moved {
  readonly dependencies: ReadonlySet<CanonicalName>
  readonly terms: MovedTerms
}

const UNMOVED: Moved = { dependencies: new Set(), terms: { search: [], common: [] } }

/**
 * Brings everything that lists and searches read of a crate in line with its versions, and gives
 * the marks of the pages that show it: its own, those of the crates it depends on, the registry's,
 * and the files of the search. Call it in the transaction of the change, after `delist`, whose
 * answer is `dropped`, when releases go. A crate without releases is in no list.
 */
export async function relist(
  tx: Queries,
  crate: CrateRecord,
  versions: readonly VersionRecord[],
  dropped: Moved = UNMOVED,
): Promise<MarkSubject[]> {
  const canonical = canonicalName(crate.name)
  const before = await tx
    .selectFrom('listings')
    .selectAll()
    .where('crate_id', '=', crate.id)
    .executeTakeFirst()
  const after = listingOf(crate, canonical, versions)
  if (after && !before) await countPrefixes(tx, canonical)
  if (after) {
    await tx
      .insertInto('listings')
      .values(after)
      .onConflict(conflict => conflict.column('crate_id').doUpdateSet(after))
      .execute()
  }
  const moved = after ? await moveCrate(tx, { id: crate.id, canonical }, before, after) : UNMOVED
  const dependencies = await idsOf(tx, [...dropped.dependencies, ...moved.dependencies])
  return [
    { kind: 'site', subject: SITE },
    { kind: 'list', subject: crate.id },
    { kind: 'entry', subject: blockOf(crate.id) },
    { kind: 'map', subject: Math.floor(crate.id / SITEMAP_CRATES) },
    ...marksOf('page', [crate.id, ...dependencies]),
    ...marksOf('search', [...dropped.terms.search, ...moved.terms.search]),
    ...marksOf('common', [...dropped.terms.common, ...moved.terms.common]),
  ]
}

/** Takes a crate out of all lists, because some of its releases are about to go. */
export async function delist(tx: Queries, crateId: number): Promise<Moved> {
  const before = await tx
    .selectFrom('listings')
    .selectAll()
    .where('crate_id', '=', crateId)
    .executeTakeFirst()
  if (!before) return UNMOVED
  const canonical = before.canonical as CanonicalName
  const old = await readFindable(tx, canonical, before)
  const terms = await moveTerms(tx, crateId, old.terms, NOTHING.terms)
  await moveEdges(tx, { id: crateId, canonical }, old.dependencies, NOTHING.dependencies)
  await uncountPrefixes(tx, canonical)
  await tx.deleteFrom('listings').where('crate_id', '=', crateId).execute()
  return { dependencies: old.dependencies, terms }
}

/** Makes all listings again where they are missing or of another format. */
export async function refreshListings(database: Database): Promise<void> {
  const isCurrent = async (db: Queries) => (await readFact(db, 'listings')) === LISTINGS_FORMAT
  if (await isCurrent(database)) return
  await database.transaction().execute(async tx => {
    if (await isCurrent(tx)) return
    const derived = ['dependents', 'blocks', 'name_lengths', 'postings', 'terms'] as const
    for (const table of [...derived, 'prefixes', 'listings'] as const)
      await tx.deleteFrom(table).execute()
    for await (const crate of eachCrate(tx)) {
      const marks = await relist(tx, crate, await listVersions(tx, crate.id))
      await setMarks(tx, marks, crate.generation)
    }
    await writeFact(tx, 'listings', LISTINGS_FORMAT)
  })
}

function listingOf(
  crate: CrateRecord,
  canonical: CanonicalName,
  versions: readonly VersionRecord[],
) {
  const newest = newestVersion(versions)
  if (!newest) return null
  const stable = newestVersion(versions.filter(one => !one.yanked && !isPrerelease(one.version)))
  let updated = crate.createdAt
  for (const { publishedAt } of versions)
    if (publishedAt !== null && publishedAt > updated) updated = publishedAt
  return {
    crate_id: crate.id,
    canonical,
    newest_id: newest.id,
    latest_id: (versions.findLast(one => !one.yanked) ?? newest).id,
    stable_id: stable?.id ?? null,
    versions: versions.length,
    yanked: Number(newest.yanked),
    updated_at: updated,
  }
}

/** By what a crate is found: the terms of its newest version, and the crates it depends on here. */
interface Findable {
  readonly terms: ReadonlyMap<string, number | null>
  readonly dependencies: ReadonlySet<CanonicalName>
}

/** The version that represents a crate in lists. */
interface NewestVersion {
  readonly newest_id: number
  readonly yanked: number
}

const NOTHING: Findable = { terms: new Map(), dependencies: new Set() }

async function readFindable(
  tx: Queries,
  canonical: CanonicalName,
  listing: NewestVersion,
): Promise<Findable> {
  const yanked = listing.yanked === 1
  const row = await tx
    .selectFrom('releases')
    .select(['about', 'line'])
    .where('id', '=', listing.newest_id)
    .executeTakeFirstOrThrow()
  const { keywords, description } = JSON.parse(row.about) as About
  // A crate with only yanked versions is no dependent of any other.
  const own = yanked ? [] : parseEntry(row.line).deps.filter(one => one.registry === null)
  const dependencies = new Set(own.map(one => canonicalName((one.package ?? one.name) as Name)))
  dependencies.delete(canonical)
  // The empty word is in every crate: its count is how many there are.
  const terms = new Map<string, number | null>([
    ['', null],
    ...termsOf({ canonical, keywords, description, yanked }),
  ])
  return { terms, dependencies }
}

/** Moves a crate to the terms and dependencies of its newest version. */
async function moveCrate(
  tx: Queries,
  crate: { id: number; canonical: CanonicalName },
  before: NewestVersion | undefined,
  after: NewestVersion,
): Promise<Moved> {
  if (before?.newest_id === after.newest_id && before.yanked === after.yanked) return UNMOVED
  const old = before ? await readFindable(tx, crate.canonical, before) : NOTHING
  const now = await readFindable(tx, crate.canonical, after)
  if (!before) await keepNameLength(tx, crate.id, crate.canonical.length)
  const terms = await moveTerms(tx, crate.id, old.terms, now.terms)
  await moveEdges(tx, crate, old.dependencies, now.dependencies)
  return { dependencies: new Set([...old.dependencies, ...now.dependencies]), terms }
}

async function moveEdges(
  tx: Queries,
  crate: { id: number; canonical: CanonicalName },
  old: ReadonlySet<CanonicalName>,
  now: ReadonlySet<CanonicalName>,
): Promise<void> {
  const gone = [...old].filter(one => !now.has(one))
  const come = [...now].filter(one => !old.has(one))
  for (const part of inChunks(gone)) {
    await tx
      .deleteFrom('dependents')
      .where('dependent', '=', crate.canonical)
      .where('dependency', 'in', part)
      .execute()
  }
  for (const part of inChunks(come)) {
    const rows = part.map(dependency => ({
      dependency,
      dependent: crate.canonical,
      crate_id: crate.id,
    }))
    await tx.insertInto('dependents').values(rows).execute()
  }
}

async function idsOf(tx: Queries, names: readonly CanonicalName[]): Promise<number[]> {
  const ids: number[] = []
  for (const part of inChunks(names)) {
    const rows = await tx.selectFrom('crates').select('id').where('canonical', 'in', part).execute()
    ids.push(...rows.map(row => row.id))
  }
  return ids
}
