import { sql } from 'kysely'
import { hashOf } from '../render.ts'
import type { Queries } from './record.ts'

/** Most values of one statement. */
const CHUNK = 500

/** The hash of the empty word, which is only counted and in no file. */
const NO_HASH = -1

/**
 * Moves a crate from the terms that found it to those that find it now: term → rank, or null for a term that is only
 * counted. Touches what differs, nothing else; the hashes of those terms come back.
 */
export async function moveTerms(
  tx: Queries,
  crateId: number,
  old: ReadonlyMap<string, number | null>,
  now: ReadonlyMap<string, number | null>,
): Promise<number[]> {
  const gone = [...old.keys()].filter(term => !now.has(term))
  const come = [...now.keys()].filter(term => !old.has(term))
  const moved = [...now.keys()].filter(term => old.has(term) && old.get(term) !== now.get(term))
  for (let at = 0; at < gone.length; at += CHUNK) await leave(tx, crateId, gone.slice(at, at + CHUNK))
  for (let at = 0; at < come.length; at += CHUNK) await enter(tx, crateId, come.slice(at, at + CHUNK), now)
  for (let at = 0; at < moved.length; at += CHUNK) await move(tx, crateId, moved.slice(at, at + CHUNK), now)
  return [...gone, ...come, ...moved].filter(term => term !== '').map(hashOf)
}

async function leave(tx: Queries, crateId: number, terms: readonly string[]): Promise<void> {
  const rows = await tx
    .updateTable('terms')
    .set({ crates: sql`crates - 1` })
    .where('term', 'in', terms)
    .returning(['id', 'crates'])
    .execute()
  const ids = rows.map(row => row.id)
  await tx.deleteFrom('postings').where('crate_id', '=', crateId).where('term_id', 'in', ids).execute()
  const unused = rows.filter(row => row.crates === 0).map(row => row.id)
  if (unused.length > 0) await tx.deleteFrom('terms').where('id', 'in', unused).execute()
}

async function enter(
  tx: Queries,
  crateId: number,
  terms: readonly string[],
  ranks: ReadonlyMap<string, number | null>,
): Promise<void> {
  const rows = await tx
    .insertInto('terms')
    .values(terms.map(term => ({ term, crates: 1, hash: term === '' ? NO_HASH : hashOf(term) })))
    .onConflict(conflict => conflict.column('term').doUpdateSet({ crates: sql`terms.crates + 1` }))
    .returning(['id', 'term'])
    .execute()
  await insertPostings(tx, crateId, rows, ranks)
}

async function move(
  tx: Queries,
  crateId: number,
  terms: readonly string[],
  ranks: ReadonlyMap<string, number | null>,
): Promise<void> {
  const rows = await tx.selectFrom('terms').select(['id', 'term']).where('term', 'in', terms).execute()
  const ids = rows.map(row => row.id)
  await tx.deleteFrom('postings').where('crate_id', '=', crateId).where('term_id', 'in', ids).execute()
  await insertPostings(tx, crateId, rows, ranks)
}

async function insertPostings(
  tx: Queries,
  crateId: number,
  rows: readonly { id: number; term: string }[],
  ranks: ReadonlyMap<string, number | null>,
): Promise<void> {
  const postings = rows.flatMap(({ id, term }) => {
    const rank = ranks.get(term) ?? null
    return rank === null ? [] : [{ term_id: id, rank, crate_id: crateId }]
  })
  if (postings.length > 0) await tx.insertInto('postings').values(postings).execute()
}
