import type { Database } from '../database.ts'
import { HASH_BITS, POSTINGS_MAX, type Posting, type Term } from '../render.ts'

/** How many terms there are, without counting them. */
export async function termCount(database: Database): Promise<number> {
  const row = await database.selectFrom('counts').select('n').where('what', '=', 'terms').executeTakeFirst()
  return row?.n ?? 0
}

/** The terms of a bucket with their crates, at most `POSTINGS_MAX` each; in no particular order. */
export async function readBucket(database: Database, bits: number, bucket: number): Promise<Term[]> {
  const width = 2 ** (HASH_BITS - bits)
  const terms = await database
    .selectFrom('terms')
    .selectAll()
    .where('hash', '>=', bucket * width)
    .where('hash', '<', (bucket + 1) * width)
    .execute()
  const few = terms.filter(term => term.crates <= POSTINGS_MAX).map(term => term.id)
  const postings = await readFew(database, few)
  const list: Term[] = []
  for (const { id, term, crates } of terms) {
    list.push({ term, crates, postings: postings.get(id) ?? (await readFirst(database, id)) })
  }
  return list
}

/** All crates of several terms. */
async function readFew(database: Database, terms: readonly number[]): Promise<Map<number, Posting[]>> {
  const found = new Map<number, Posting[]>(terms.map(id => [id, []]))
  for (let at = 0; at < terms.length; at += 500) {
    const rows = await database
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
async function readFirst(database: Database, term: number): Promise<Posting[]> {
  return database
    .selectFrom('postings')
    .select(['rank', 'crate_id as id'])
    .where('term_id', '=', term)
    .orderBy('rank')
    .orderBy('crate_id')
    .limit(POSTINGS_MAX)
    .execute()
}
