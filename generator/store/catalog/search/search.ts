/**
 * The search index. A crate is found by terms: the words of its name, keywords, and description,
 * and the beginnings of the words of its name. The rank of a crate for a term says how well they
 * match; crates with a lower rank come first (`core/search/terms.ts`).
 *
 * - `terms` has the number of crates that each term finds, `postings` the crates with their ranks.
 * - A term that finds many crates also has bitmaps of them (`bitmaps.ts`). A query of several such
 *   terms combines the bitmaps (`intersection.ts`), which is faster than looking up each crate.
 * - `index-terms.ts` updates all of these when a crate gets a different newest version.
 * - The browser searches in files that `search-files.ts` reads from the same tables.
 */
import { parseQuery, RANK_FIT, RANK_YANKED } from '../../../../core/search/words.ts'
import { all, column, LIST, type Queries, type Row } from '../../database/statement.ts'
import { crateCount } from '../pages/prefixes.ts'
import { type FoundCrates, intersection, type Slice } from './intersection.ts'

/**
 * Searches the crates: every word must occur in the name, the keywords, or the description, or
 * begin a word of the name. The exact name comes first, then names that begin with the query, then
 * the rest by where the words occur; crates with only yanked versions come last. An empty query
 * finds every crate, by name.
 */
export async function searchCrates(db: Queries, query: string, slice: Slice): Promise<FoundCrates> {
  const { words, key } = parseQuery(query)
  if (words.length === 0 && !/[^\s+]/.test(query))
    return pageOf(db, slice, await crateCount(db), EVERY_CRATE)
  const text = `SELECT * FROM terms WHERE term IN ${LIST} ORDER BY crates, id`
  const terms = await all<Row<'terms'>>(db, text, words)
  const [rarest] = terms
  if (!rarest || terms.length < words.length) return { ids: [], total: 0 }
  if (key === null) return pageOf(db, slice, rarest.crates, ONE_TERM, rarest.id)
  const ids = terms.map(term => term.id)
  if (terms.some(term => term.common === 0)) return severalTerms(db, ids, key, slice)
  const begins = await column<number>(db, BEGINNING, key, `${key}{`)
  return intersection(db, ids, begins, slice)
}

const EVERY_CRATE = 'SELECT crate_id FROM listings ORDER BY yanked, canonical LIMIT ? OFFSET ?'
const ONE_TERM = `SELECT crate_id FROM postings
  WHERE term_id = ? ORDER BY rank, crate_id LIMIT ? OFFSET ?`

/** `{` follows `z`, the last character of canonical names. */
const BEGINS = 'crates.canonical >= ? AND crates.canonical < ?'
const BEGINNING = `SELECT id FROM crates WHERE ${BEGINS}`

async function pageOf(
  db: Queries,
  { limit, offset }: Slice,
  total: number,
  text: string,
  ...parameters: number[]
): Promise<FoundCrates> {
  const ids = offset < total ? await column<number>(db, text, ...parameters, limit, offset) : []
  return { ids, total }
}

/**
 * Looks up each crate of the rarest term, which comes first, in the other terms; `key` is the query
 * as a canonical name. The rarest term finds about 1,000 crates at most. CROSS JOIN makes SQLite
 * keep that order. The highest rank of a crate counts.
 */
async function severalTerms(
  db: Queries,
  termIds: readonly number[],
  key: string,
  { limit, offset }: Slice,
): Promise<FoundCrates> {
  const rows = await all<{ id: number }>(
    db,
    `SELECT rarest.crate_id AS id, ${BEGINS} AS begins
      FROM postings AS rarest CROSS JOIN postings AS found CROSS JOIN crates
      WHERE rarest.term_id = ? AND crates.id = rarest.crate_id
        AND found.crate_id = rarest.crate_id AND found.term_id IN ${LIST}
      GROUP BY rarest.crate_id, rarest.rank, begins HAVING count(*) = ?
      ORDER BY rarest.rank >= ${RANK_YANKED}, begins DESC,
        CASE WHEN begins THEN rarest.rank % ${RANK_FIT} ELSE max(found.rank) END, rarest.crate_id`,
    key,
    `${key}{`,
    termIds[0] ?? 0,
    termIds,
    termIds.length,
  )
  const ids = rows.map(row => row.id)
  return { ids: ids.slice(offset, offset + limit), total: ids.length }
}
