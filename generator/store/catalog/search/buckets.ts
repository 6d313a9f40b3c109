import { HASH_BITS, RANGE_CRATES, rangeOf } from '../../../../core/search/buckets.ts'
import { POSTINGS_MAX, type Posting, type Term } from '../../../../core/search/postings.ts'
import type { Queries } from '../change.ts'

/** How many terms there are, without counting them. */
export async function termCount(db: Queries): Promise<number> {
  const row = await db
    .selectFrom('counts')
    .select('n')
    .where('what', '=', 'terms')
    .executeTakeFirst()
  return row?.n ?? 0
}

/** The terms of a bucket with their crates, at most `POSTINGS_MAX` each; in no particular order. */
export async function readBucket(db: Queries, bits: number, bucket: number): Promise<Term[]> {
  const width = 2 ** (HASH_BITS - bits)
  const terms = await db
    .selectFrom('terms')
    .selectAll()
    .where('hash', '>=', bucket * width)
    .where('hash', '<', (bucket + 1) * width)
    .execute()
  const few = terms.filter(term => term.crates <= POSTINGS_MAX).map(term => term.id)
  const postings = await readFew(db, few)
  const list: Term[] = []
  for (const { id, term, crates } of terms) {
    const all = postings.get(id)
    if (all) list.push({ term, crates, postings: all, ranges: [] })
    else
      list.push({
        term,
        crates,
        postings: await readFirst(db, id),
        ranges: await rangesOfTerm(db, id),
      })
  }
  return list
}

/** The common terms of a hash, each with all its crates of one range. */
export async function readCommon(db: Queries, hash: number, range: number): Promise<Term[]> {
  const terms = await db
    .selectFrom('terms')
    .select(['id', 'term'])
    .where('hash', '=', hash)
    .where('crates', '>', POSTINGS_MAX)
    .execute()
  const list: Term[] = []
  for (const { id, term } of terms) {
    const postings = await db
      .selectFrom('postings')
      .select(['rank', 'crate_id as id'])
      .where('term_id', '=', id)
      .where('crate_id', '>=', range * RANGE_CRATES)
      .where('crate_id', '<', (range + 1) * RANGE_CRATES)
      .orderBy('rank')
      .orderBy('crate_id')
      .execute()
    if (postings.length > 0) list.push({ term, crates: postings.length, postings, ranges: [] })
  }
  return list
}

/** Every hash of a common term with the ranges that its crates are in. Looks at all terms. */
export async function commonRanges(
  db: Queries,
): Promise<{ readonly hash: number; readonly range: number }[]> {
  const terms = await db
    .selectFrom('terms')
    .select(['id', 'hash'])
    .where('hash', '>=', 0)
    .where('crates', '>', POSTINGS_MAX)
    .execute()
  const places = new Map<number, { hash: number; range: number }>()
  for (const { id, hash } of terms) {
    for (const range of await rangesOfTerm(db, id))
      places.set(commonSubject(hash, range), { hash, range })
  }
  return [...places.values()]
}

/** The ranges that the crates of a term are in. */
export async function rangesOfTerm(db: Queries, term: number): Promise<number[]> {
  const ranges: number[] = []
  for (let first = 0; ; first = ((ranges.at(-1) ?? 0) + 1) * RANGE_CRATES) {
    const row = await db
      .selectFrom('postings')
      .select('crate_id')
      .where('term_id', '=', term)
      .where('crate_id', '>=', first)
      .orderBy('crate_id')
      .limit(1)
      .executeTakeFirst()
    if (!row) return ranges
    ranges.push(rangeOf(row.crate_id))
  }
}

/** Ranges of one hash in the subjects of marks; both together fit 31 bits. */
const RANGES_MAX = 2 ** (31 - HASH_BITS)

/** The subject of the `common` mark of a hash and a range. */
export function commonSubject(hash: number, range: number): number {
  return hash * RANGES_MAX + range
}

/** What `commonSubject` was made of. */
export function ofCommonSubject(subject: number): {
  readonly hash: number
  readonly range: number
} {
  return { hash: Math.floor(subject / RANGES_MAX), range: subject % RANGES_MAX }
}

/** All crates of several terms. */
async function readFew(db: Queries, terms: readonly number[]): Promise<Map<number, Posting[]>> {
  const found = new Map<number, Posting[]>(terms.map(id => [id, []]))
  for (let at = 0; at < terms.length; at += 500) {
    const rows = await db
      .selectFrom('postings')
      .select(['term_id', 'rank', 'crate_id as id'])
      .where('term_id', 'in', terms.slice(at, at + 500))
      .orderBy('term_id')
      .orderBy('rank')
      .orderBy('crate_id')
      .execute()
    for (const { term_id, rank, id } of rows) found.get(term_id)?.push({ rank, id })
  }
  return found
}

/** The first crates of a very common term. */
async function readFirst(db: Queries, term: number): Promise<Posting[]> {
  return db
    .selectFrom('postings')
    .select(['rank', 'crate_id as id'])
    .where('term_id', '=', term)
    .orderBy('rank')
    .orderBy('crate_id')
    .limit(POSTINGS_MAX)
    .execute()
}
