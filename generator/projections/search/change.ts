import type { Advisory } from '../../../core/advisory/advisory.ts'
import type { About } from '../../../core/manifest/manifest.ts'
import type { CanonicalName } from '../../../core/name.ts'
import { type Deprecation, deprecationOf } from '../../../core/notes/notes.ts'
import { blockOf, hashOfStart, shapeOf } from '../../../core/search/layout.ts'
import { changePostings, crateCount } from '../../../core/search/postings.ts'
import { changeRanks, rankOf } from '../../../core/search/ranks.ts'
import { gradeOf, isListed } from '../../../core/search/similar.ts'
import { termsOf } from '../../../core/search/terms.ts'
import type { Version } from '../../../core/version.ts'
import type { SiteConfig } from '../../../site/site-config.ts'
import { pace } from '../../database/pace.ts'
import { all, insertAll, LIST, type Queries, type Row, run } from '../../database/statement.ts'
import { isStorageRefusal } from '../../places/disk/fault.ts'
import { advisoriesOn, type Origin } from '../../records/advisories/read.ts'
import type { Mark } from '../../records/marks.ts'
import { OWNER_LOGINS } from '../../records/owners.ts'
import { findableWith } from '../../records/releases-view.ts'
import type { PageContext } from '../context.ts'
import type { Rendered } from '../projection.ts'
import { BLOCKS, BUCKETS, markFiles, RANKS, RANKS_TERM } from './files.ts'

/**
 * Derives the terms that find the crate of a mark and those of `others`, in one transaction that
 * marks the files that change. If that fails, derives those of the mark alone.
 */
export async function refreshSearch(
  { database, site, urls }: Pick<PageContext, 'database' | 'site' | 'urls'>,
  mark: Mark,
  others: readonly Mark[] = [],
): Promise<Rendered> {
  const refresh = (done: readonly Mark[]) =>
    database.transaction(async tx => {
      const crates = await readCrates(tx, site, urls.own, done)
      const next = await markFiles(tx, [
        ...crates.map(({ id }) => BLOCKS + blockOf(id)),
        ...(await changeTerms(tx, crates, await changeCrates(tx, crates))),
      ])
      return { done, next }
    })
  try {
    return await refresh([mark, ...others.filter(({ subject }) => subject < BUCKETS)])
  } catch (error) {
    if (isStorageRefusal(error)) throw error
    return refresh([mark])
  }
}

/** The terms and the rank of a crate; no terms and rank 0 if it is not listed, or there is none. */
interface Findable {
  readonly id: number
  /** The terms by which it was found, as `search_crates` has them. */
  readonly before: string | null
  readonly terms: ReadonlyMap<string, number>
  readonly rank: number
}

async function readCrates(
  tx: Queries,
  site: Pick<SiteConfig, 'owners'>,
  own: Origin,
  marks: readonly Mark[],
): Promise<Findable[]> {
  const rows = await all<{
    id: number
    before: string | null
    canonical: CanonicalName
    dependents: number
    coreDependents: number | null
    yanked: number
    about: string | null
    coreAbout: string | null
    readme: string | null
    rust: string | null
    newest: Version
    deprecations: string | null
    owners: string | null
    isAdvised: number
  }>(tx, findableWith(site.owners ? OWNER_LOGINS : 'NULL'), marks)
  const holes = new Map<number, readonly Advisory[]>()
  for (const { id, canonical: name, isAdvised } of rows)
    if (isAdvised === 1) holes.set(id, await advisoriesOn(tx, { id, name }, own))
  return rows.map(({ id, before, canonical, yanked, about, rust, owners, ...row }) => {
    if (about === null) return { id, before, terms: new Map(), rank: 0 }
    const manifest = JSON.parse(about) as About
    const { keywords, categories, description, license } = manifest
    const { readme } = row
    const core: About | null = JSON.parse(row.coreAbout ?? 'null')
    // What depends on the core counts for the crate whose core it is.
    const dependents = Math.max(row.dependents, row.coreDependents ?? 0)
    const said = JSON.parse(row.deprecations ?? '[]') as Deprecation[]
    const isDeprecated = deprecationOf(said, row.newest, manifest) !== null
    const searched = { canonical, keywords, categories, description, license, rust, readme, core }
    const more = { owners: JSON.parse(owners ?? '[]'), advisories: holes.get(id) ?? [] }
    const rank = rankOf({ canonical, dependents, yanked: yanked === 1, isDeprecated })
    return { id, before, terms: termsOf({ ...searched, ...more }), rank }
  })
}

/** The new fits of crates by their ids; null for those that a term finds no more. */
type Fits = Map<number, number | null>

/** Changes the terms that find crates; returns those that change. */
async function changeCrates(tx: Queries, crates: readonly Findable[]): Promise<Map<string, Fits>> {
  const changed = new Map<string, Fits>()
  const gone: number[] = []
  const kept: Row<'search_crates'>[] = []
  for (const { id, before, terms } of crates) {
    const old = new Map<string, number>(JSON.parse(before ?? '[]'))
    for (const term of new Set([...old.keys(), ...terms.keys()])) {
      if (old.get(term) === terms.get(term)) continue
      const fits: Fits = changed.get(term) ?? new Map()
      changed.set(term, fits.set(id, terms.get(term) ?? null))
    }
    const text = JSON.stringify([...terms])
    if (text === before) continue
    if (before !== null) gone.push(id)
    if (terms.size > 0) kept.push({ crate_id: id, terms: text })
  }
  if (gone.length > 0) await run(tx, `DELETE FROM search_crates WHERE crate_id IN ${LIST}`, gone)
  await insertAll(tx, 'search_crates', kept)
  return changed
}

/** Changes the ranks of crates and the postings of terms; returns the files that change. */
async function changeTerms(
  tx: Queries,
  crates: readonly Findable[],
  terms: ReadonlyMap<string, Fits>,
): Promise<number[]> {
  const sql = `SELECT term, words, postings FROM search_terms WHERE shard = 0 AND term IN ${LIST}`
  const rows = await all<Row<'search_terms'>>(tx, sql, [RANKS_TERM, ...terms.keys()])
  const before = new Map(rows.map(row => [row.term, row]))
  const kept: Row<'search_terms'>[] = []
  const gone: string[] = []
  const files = new Set<number>()
  for (const [term, fits] of terms) {
    const old = before.get(term)
    const postings = changePostings(old?.postings ?? '', fits)
    const words = isListed(term) ? crateCount(postings) : 0
    const [place, shape] = [hashOfStart(term), shapeOf(term)]
    // Earlier formats had a shard for each 65,536 crates; all terms are in the first now.
    if (postings === '') gone.push(term)
    else kept.push({ shard: 0, term, place, shape, words, postings })
    files.add(BUCKETS + place)
    if (gradeOf(words) !== gradeOf(old?.words ?? 0)) files.add(BUCKETS + shape)
    await pace()
  }
  const old = before.get(RANKS_TERM)?.postings ?? ''
  const ranks = changeRanks(old, new Map(crates.map(({ id, rank }) => [id, rank])))
  if (ranks !== old) {
    kept.push({ shard: 0, term: RANKS_TERM, place: -1, shape: -1, words: 0, postings: ranks })
    files.add(RANKS)
  }
  const conflict = `ON CONFLICT (shard, term)
    DO UPDATE SET words = excluded.words, postings = excluded.postings`
  await insertAll(tx, 'search_terms', kept, conflict)
  if (gone.length > 0)
    await run(tx, `DELETE FROM search_terms WHERE shard = 0 AND term IN ${LIST}`, gone)
  return [...files]
}
