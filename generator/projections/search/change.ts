import type { About } from '../../../core/manifest/manifest.ts'
import type { CanonicalName } from '../../../core/name.ts'
import { COLUMNS, type Column, changeColumn, columnsOf } from '../../../core/search/columns.ts'
import { blockOf, placeOf, type SearchLayout, shapeOf } from '../../../core/search/layout.ts'
import { changePostings, crateCount } from '../../../core/search/postings.ts'
import { termsOf } from '../../../core/search/terms.ts'
import { gradeOf, isListed } from '../../../core/search/vocabulary.ts'
import type { Database } from '../../database/connection.ts'
import { pace } from '../../database/pace.ts'
import { all, insertAll, LIST, type Queries, type Row, run } from '../../database/statement.ts'
import { isStorageRefusal } from '../../places/disk/fault.ts'
import type { Mark } from '../../records/marks.ts'
import type { Rendered } from '../projection.ts'
import { fileOf, markFiles, type SearchFile } from './layouts.ts'

const AT_ONCE = 32

type Refreshed = Rendered & { readonly layout: SearchLayout | null }

/** Who may be named in a search file. */
export interface SearchSite {
  readonly owners: boolean
}

/**
 * Derives by what searches find the crate of a mark and up to 31 `others`, in one transaction that
 * marks the files that change. If that fails, derives only the crate of the mark.
 */
export async function refreshSearch(
  database: Database,
  site: SearchSite,
  mark: Mark,
  others: readonly Mark[] = [],
): Promise<Refreshed> {
  const crates = others.filter(other => fileOf(other) === null).slice(0, AT_ONCE - 1)
  try {
    return await refresh(database, site, [mark, ...crates])
  } catch (error) {
    if (isStorageRefusal(error)) throw error
    return refresh(database, site, [mark])
  }
}

function refresh(database: Database, site: SearchSite, done: readonly Mark[]): Promise<Refreshed> {
  return database.transaction(async tx => {
    const ids = done.map(mark => mark.subject)
    return { done, ...(await markFiles(tx, await changeCrates(tx, site, ids))) }
  })
}

/** The new fits of terms and numbers in columns, by the ids of crates. */
interface Changes {
  readonly terms: Map<string, Map<number, number | null>>
  readonly columns: Readonly<Record<Column, Map<number, number>>>
}

async function changeCrates(
  tx: Queries,
  site: SearchSite,
  ids: readonly number[],
): Promise<SearchFile[]> {
  const { before, now } = await readCrates(tx, site, ids)
  const changes: Changes = { terms: new Map(), columns: { ranks: new Map(), rust: new Map() } }
  for (const id of ids) {
    const old = new Map<string, number>(JSON.parse(before.get(id) ?? '[]'))
    const { terms, columns } = now.get(id) ?? NOTHING
    for (const column of COLUMNS) changes.columns[column].set(id, columns[column])
    for (const term of new Set([...old.keys(), ...terms.keys()])) {
      if (old.get(term) === terms.get(term)) continue
      const fits = changes.terms.get(term) ?? new Map()
      changes.terms.set(term, fits.set(id, terms.get(term) ?? null))
    }
  }
  const gone = ids.filter(id => before.has(id) && !now.has(id))
  if (gone.length > 0) await run(tx, `DELETE FROM search_crates WHERE crate_id IN ${LIST}`, gone)
  const rows = Array.from(now, ([crate_id, { terms }]) => {
    return { crate_id, terms: JSON.stringify([...terms]) }
  }).filter(({ crate_id, terms }) => before.get(crate_id) !== terms)
  const conflict = 'ON CONFLICT (crate_id) DO UPDATE SET terms = excluded.terms'
  await insertAll(tx, 'search_crates', rows, conflict)
  const blocks: SearchFile[] = ids.map(id => ({ kind: 'block', number: blockOf(id) }))
  return [...blocks, ...(await changeTerms(tx, changes))]
}

/** What searches find a crate by, and what they know of it. */
interface Findable {
  readonly terms: ReadonlyMap<string, number>
  readonly columns: Readonly<Record<Column, number>>
}

const NOTHING: Findable = { terms: new Map(), columns: { ranks: 0, rust: 0 } }

/** Reads the terms by which crates were found, and by what those that are listed are found now. */
async function readCrates(tx: Queries, site: SearchSite, ids: readonly number[]) {
  const rows = await all<{
    id: number
    before: string | null
    canonical: CanonicalName
    dependents: number
    yanked: number
    about: string | null
    rust: string | null
    owners: string | null
  }>(
    tx,
    `SELECT crates.id, search_crates.terms AS before,
      crates.canonical, listings.dependents, listings.yanked,
      releases.about, releases.line ->> 'rust_version' AS rust,
      ${site.owners ? OWNERS : 'NULL'} AS owners
      FROM crates LEFT JOIN search_crates ON search_crates.crate_id = crates.id
      LEFT JOIN listings ON listings.crate_id = crates.id
      LEFT JOIN releases ON releases.id = listings.newest_id
      WHERE crates.id IN ${LIST}`,
    ids,
  )
  const before = new Map<number, string>()
  const now = new Map<number, Findable>()
  for (const { id, canonical, dependents, yanked, rust, ...row } of rows) {
    if (row.before !== null) before.set(id, row.before)
    if (row.about === null) continue
    const { keywords, categories, description, license } = JSON.parse(row.about) as About
    const searched = { canonical, keywords, categories, description, license }
    const terms = termsOf({ ...searched, owners: JSON.parse(row.owners ?? '[]') })
    now.set(id, {
      terms,
      columns: columnsOf({ canonical, dependents, yanked: yanked === 1, rust }),
    })
  }
  return { before, now }
}

const OWNERS = `(SELECT json_group_array(users.login) FROM owners
  JOIN users ON users.id = owners.user_id WHERE owners.crate_id = listings.crate_id)`

/** Returns the term in whose row a column is; no other term has this character. */
export function columnTerm(column: Column): string {
  return `#${column}`
}

async function changeTerms(tx: Queries, { terms, columns }: Changes): Promise<SearchFile[]> {
  const sql = `SELECT term, words, postings FROM search_terms WHERE shard = 0 AND term IN ${LIST}`
  const known = [...COLUMNS.map(columnTerm), ...terms.keys()]
  const rows = await all<Row<'search_terms'>>(tx, sql, known)
  const before = new Map(rows.map(row => [row.term, row]))
  const kept: Row<'search_terms'>[] = []
  const keep = (row: Omit<Row<'search_terms'>, 'shard'>) => kept.push({ shard: 0, ...row })
  const gone: string[] = []
  const hashes = new Set<number>()
  for (const [term, changes] of terms) {
    const old = before.get(term)
    const now = changePostings(old?.postings ?? '', changes)
    const words = isListed(term) ? crateCount(now) : 0
    if (now === '') gone.push(term)
    else keep({ term, place: placeOf(term), shape: shapeOf(term), words, postings: now })
    hashes.add(placeOf(term))
    if (gradeOf(words) !== gradeOf(old?.words ?? 0)) hashes.add(shapeOf(term))
    await pace()
  }
  const files: SearchFile[] = [...hashes].map(number => ({ kind: 'bucket', number }))
  for (const column of COLUMNS) {
    const old = before.get(columnTerm(column))?.postings ?? ''
    const now = changeColumn(old, columns[column])
    if (now === old) continue
    keep({ term: columnTerm(column), place: -1, shape: -1, words: 0, postings: now })
    files.push({ kind: column, number: 0 })
  }
  // Earlier formats had a shard for each 65,536 crates; all terms are in the first now.
  const conflict = `ON CONFLICT (shard, term)
    DO UPDATE SET words = excluded.words, postings = excluded.postings`
  await insertAll(tx, 'search_terms', kept, conflict)
  if (gone.length > 0)
    await run(tx, `DELETE FROM search_terms WHERE shard = 0 AND term IN ${LIST}`, gone)
  return files
}
