import { parseEntry } from '../../../core/entry/parse.ts'
import type { About } from '../../../core/manifest/manifest.ts'
import { type CanonicalName, canonicalName, type Name } from '../../../core/name.ts'
import { SITEMAP_CRATES } from '../../../core/paths/pages.ts'
import { blockOf } from '../../../core/search/buckets.ts'
import { termsOf } from '../../../core/search/terms.ts'
import { isPrerelease, newestVersion, type Version } from '../../../core/version.ts'
import { type Database, SITE } from '../database/database.ts'
import { markAll } from './marks.ts'
import { type CrateRecord, crateRecord, type Queries } from './record.ts'
import { keepNameLength } from './search/block-changes.ts'
import { countPrefixes, uncountPrefixes } from './search/prefixes.ts'
import { type MovedTerms, moveTerms } from './search/terms.ts'

/** Grows when an equal catalog makes other listings, so that an upgraded registry makes them anew. */
const LISTINGS_FORMAT = '5'

/** Most values of one statement; SQLite takes 32,766. */
const CHUNK = 500

/** What a crate was moved from and to: the names it depends on, and the files of the search. */
export interface Moved {
  readonly dependencies: ReadonlySet<CanonicalName>
  readonly terms: MovedTerms
}

const UNMOVED: Moved = { dependencies: new Set(), terms: { search: [], common: [] } }

/**
 * Brings everything that lists and searches read of one crate in line with its releases, and marks the pages that show
 * it: its own, those of the crates it depends on, the registry's, and the files of the search. Call it in the transaction
 * of the change, after `dropListing`, whose answer is `dropped`, when releases go. A crate without releases is in no list.
 */
export async function keepListing(
  tx: Queries,
  crateId: number,
  generation: number,
  dropped: Moved = UNMOVED,
): Promise<void> {
  const crate = crateRecord(
    await tx.selectFrom('crates').selectAll().where('id', '=', crateId).executeTakeFirstOrThrow(),
  )
  const canonical = canonicalName(crate.name)
  const before = await tx
    .selectFrom('listings')
    .selectAll()
    .where('crate_id', '=', crate.id)
    .executeTakeFirst()
  const after = await makeListing(tx, crate, canonical)
  if (after && !before) await countPrefixes(tx, canonical)
  if (after) {
    await tx
      .insertInto('listings')
      .values(after)
      .onConflict(conflict => conflict.column('crate_id').doUpdateSet(after))
      .execute()
  }
  const moved = after ? await moveFace(tx, { id: crate.id, canonical }, before, after) : UNMOVED
  await markAll(tx, 'site', [SITE], generation)
  await markAll(tx, 'list', [crate.id], generation)
  await markAll(tx, 'entry', [blockOf(crate.id)], generation)
  await markAll(tx, 'map', [Math.floor(crate.id / SITEMAP_CRATES)], generation)
  const names = [...dropped.dependencies, ...moved.dependencies]
  await markAll(tx, 'page', [crate.id, ...(await idsOf(tx, names))], generation)
  for (const kind of ['search', 'common'] as const) {
    await markAll(tx, kind, [...dropped.terms[kind], ...moved.terms[kind]], generation)
  }
}

/** Takes a crate out of all lists, because its releases are about to go. */
export async function dropListing(tx: Queries, crateId: number): Promise<Moved> {
  const before = await tx
    .selectFrom('listings')
    .selectAll()
    .where('crate_id', '=', crateId)
    .executeTakeFirst()
  if (!before) return UNMOVED
  const canonical = before.canonical as CanonicalName
  const old = await readFace(tx, canonical, before)
  const terms = await moveTerms(tx, crateId, old.terms, NOTHING.terms)
  await moveEdges(tx, { id: crateId, canonical }, old.dependencies, NOTHING.dependencies)
  await uncountPrefixes(tx, canonical)
  await tx.deleteFrom('listings').where('crate_id', '=', crateId).execute()
  return { dependencies: old.dependencies, terms }
}

/** Makes all listings anew where another version of this program has made them, or none; cheap when there is nothing to do. */
export async function refreshListings(database: Database): Promise<void> {
  const isCurrent = async (tx: Queries) =>
    (await tx.selectFrom('facts').select('value').where('key', '=', 'listings').executeTakeFirst())
      ?.value === LISTINGS_FORMAT
  if (await isCurrent(database)) return
  await database.transaction().execute(async tx => {
    if (await isCurrent(tx)) return
    const tables = [
      'dependents',
      'blocks',
      'name_lengths',
      'postings',
      'terms',
      'prefixes',
      'listings',
    ] as const
    for (const table of tables) await tx.deleteFrom(table).execute()
    let after = 0
    for (;;) {
      const rows = await tx
        .selectFrom('crates')
        .select(['id', 'generation'])
        .where('id', '>', after)
        .orderBy('id')
        .limit(CHUNK)
        .execute()
      for (const row of rows) await keepListing(tx, row.id, row.generation)
      const last = rows.at(-1)
      if (!last) break
      after = last.id
    }
    await tx
      .insertInto('facts')
      .values({ key: 'listings', value: LISTINGS_FORMAT })
      .onConflict(conflict => conflict.column('key').doUpdateSet({ value: LISTINGS_FORMAT }))
      .execute()
  })
}

async function makeListing(tx: Queries, crate: CrateRecord, canonical: CanonicalName) {
  const rows = await tx
    .selectFrom('releases')
    .select(['id', 'version', 'yanked', 'published_at'])
    .where('crate_id', '=', crate.id)
    .orderBy('id')
    .execute()
  const releases = rows.map(row => ({
    ...row,
    version: row.version as Version,
    yanked: row.yanked === 1,
  }))
  const newest = newestVersion(releases)
  if (!newest) return null
  const stable = newestVersion(releases.filter(one => !one.yanked && !isPrerelease(one.version)))
  let updated = crate.createdAt
  for (const { published_at } of releases)
    if (published_at !== null && published_at > updated) updated = published_at
  return {
    crate_id: crate.id,
    canonical,
    newest_id: newest.id,
    latest_id: (releases.findLast(one => !one.yanked) ?? newest).id,
    stable_id: stable?.id ?? null,
    versions: releases.length,
    yanked: Number(newest.yanked),
    updated_at: updated,
  }
}

/** What of a crate's newest version is searched, and what it depends on here. */
interface Face {
  readonly terms: ReadonlyMap<string, number | null>
  readonly dependencies: ReadonlySet<CanonicalName>
}

/** The version that stands for a crate. */
interface Standing {
  readonly newest_id: number
  readonly yanked: number
}

const NOTHING: Face = { terms: new Map(), dependencies: new Set() }

async function readFace(tx: Queries, canonical: CanonicalName, listing: Standing): Promise<Face> {
  const yanked = listing.yanked === 1
  const row = await tx
    .selectFrom('releases')
    .select(['about', 'line'])
    .where('id', '=', listing.newest_id)
    .executeTakeFirstOrThrow()
  const { keywords, description } = JSON.parse(row.about) as About
  // Who only has yanked versions counts as nobody's dependent.
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

/** Moves a crate to the terms and dependencies of the version that stands for it now. */
async function moveFace(
  tx: Queries,
  crate: { id: number; canonical: CanonicalName },
  before: Standing | undefined,
  after: Standing,
): Promise<Moved> {
  if (before?.newest_id === after.newest_id && before.yanked === after.yanked) return UNMOVED
  const old = before ? await readFace(tx, crate.canonical, before) : NOTHING
  const now = await readFace(tx, crate.canonical, after)
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
  for (const part of chunks(gone)) {
    await tx
      .deleteFrom('dependents')
      .where('dependent', '=', crate.canonical)
      .where('dependency', 'in', part)
      .execute()
  }
  for (const part of chunks(come)) {
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
  for (const part of chunks(names)) {
    const rows = await tx.selectFrom('crates').select('id').where('canonical', 'in', part).execute()
    ids.push(...rows.map(row => row.id))
  }
  return ids
}

function* chunks<T>(list: readonly T[]): Iterable<T[]> {
  for (let start = 0; start < list.length; start += CHUNK) yield list.slice(start, start + CHUNK)
}
