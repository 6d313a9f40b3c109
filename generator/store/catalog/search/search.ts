import { sql } from 'kysely'
import { canonicalName, isName } from '../../../../core/name.ts'
import { RANK_YANKED, wordsOf } from '../../../../core/search/words.ts'
import type { Queries } from '../change.ts'
import { commonWords } from './common-words.ts'
import type { FoundCrates, Slice } from './slice.ts'

/** Further words of a query are ignored: each costs a look-up. */
const WORDS_MAX = 32

/**
 * Searches the crates: every word must be one of the name, the keywords or the description, or
 * begin a word of the name. The exact name comes first, then names that begin with the query, then
 * by where the words are; crates with only yanked versions come last. An empty query finds every
 * crate, by name.
 *
 * One word costs the same in a registry of any size: its count is kept, its crates are sorted by
 * rank. Of several words the rarest is read and the others are looked up. Common words are compared
 * as bits.
 */
export async function searchCrates(db: Queries, query: string, slice: Slice): Promise<FoundCrates> {
  const said = wordsOf(query)
  const words = [...new Set(said)].slice(0, WORDS_MAX)
  if (words.length === 0)
    return /[^\s+]/.test(query) ? { ids: [], total: 0 } : everyCrate(db, slice)
  const terms = await db.selectFrom('terms').selectAll().where('term', 'in', words).execute()
  const [rarest, ...others] = terms.sort((a, b) => a.crates - b.crates || a.id - b.id)
  if (!rarest || terms.length < words.length) return { ids: [], total: 0 }
  if (said.length > 1) {
    const key = isName(query) ? canonicalName(query) : said.join('_')
    const ids: [number, ...number[]] = [rarest.id, ...others.map(one => one.id)]
    // All others find more crates, but one may have become common at a count that is on the border.
    return terms.every(one => one.common === 1)
      ? commonWords(db, ids, await beginning(db, key), slice)
      : severalWords(db, ids, key, slice)
  }
  const total = rarest.crates
  return { ids: slice.offset < total ? await oneWord(db, rarest.id, slice) : [], total }
}

async function everyCrate(db: Queries, { limit, offset }: Slice): Promise<FoundCrates> {
  const total = await crateCount(db)
  if (offset >= total) return { ids: [], total }
  const rows = await db
    .selectFrom('listings')
    .select('crate_id')
    .orderBy('yanked')
    .orderBy('canonical')
    .limit(limit)
    .offset(offset)
    .execute()
  return { ids: rows.map(row => row.crate_id), total }
}

/** How many crates there are, without counting them. */
export async function crateCount(db: Queries): Promise<number> {
  const row = await db
    .selectFrom('terms')
    .select('crates')
    .where('term', '=', '')
    .executeTakeFirst()
  return row?.crates ?? 0
}

/** Crates whose name begins with `key`; `{` follows `z`, the last character of canonical names. */
async function beginning(db: Queries, key: string): Promise<number[]> {
  const rows = await db
    .selectFrom('crates')
    .select('id')
    .where('canonical', '>=', key)
    .where('canonical', '<', `${key}{`)
    .execute()
  return rows.map(row => row.id)
}

async function oneWord(db: Queries, termId: number, { limit, offset }: Slice): Promise<number[]> {
  const rows = await db
    .selectFrom('postings')
    .select('crate_id')
    .where('term_id', '=', termId)
    .orderBy('rank')
    .orderBy('crate_id')
    .limit(limit)
    .offset(offset)
    .execute()
  return rows.map(row => row.crate_id)
}

/**
 * Crates that all terms find, the rarest term first; `key` is the query as a canonical name. CROSS
 * JOIN keeps SQLite to that order. The highest rank of a crate is that of all words together.
 */
async function severalWords(
  db: Queries,
  [first, ...others]: [number, ...number[]],
  key: string,
  { limit, offset }: Slice,
): Promise<FoundCrates> {
  const joins = others.map((id, at) => {
    const one = sql.ref(`p${at + 1}`)
    return sql`CROSS JOIN postings AS ${one}
      ON ${one}.term_id = ${id} AND ${one}.crate_id = p0.crate_id`
  })
  const from = sql`FROM postings AS p0 ${sql.join(joins, sql` `)} WHERE p0.term_id = ${first}`
  const counted = await sql<{ total: number }>`SELECT count(*) AS total ${from}`.execute(db)
  const total = counted.rows[0]?.total ?? 0
  if (offset >= total) return { ids: [], total }
  const ranks = [first, ...others].map((_, at) => sql`${sql.ref(`p${at}`)}.rank`)
  const highest = others.length === 0 ? sql`p0.rank` : sql`max(${sql.join(ranks)})`
  // `{` follows `z`, the last character that a canonical name may have.
  const begins = sql`SELECT id FROM crates WHERE canonical >= ${key} AND canonical < ${`${key}{`}`
  const found = await sql<{ crate_id: number }>`
    SELECT p0.crate_id ${from}
    ORDER BY p0.rank >= ${RANK_YANKED}, p0.crate_id NOT IN (${begins}),
      CASE WHEN p0.crate_id IN (${begins}) THEN p0.rank % 128 ELSE ${highest} END, p0.crate_id
    LIMIT ${limit} OFFSET ${offset}`.execute(db)
  return { ids: found.rows.map(row => row.crate_id), total }
}
