import { sql } from 'kysely'
import { hashOf } from '../render.ts'
import { type BlockChange, COMMON_FROM, changeBlocks, dropBlocks, makeBlocks } from './block-changes.ts'
import type { Queries } from './record.ts'

/** Most values of one statement. */
const CHUNK = 500

/** The hash of the empty word, which is only counted and in no file. */
const NO_HASH = -1

/**
 * Moves a crate from the terms that found it to those that find it now: term → rank, or null for a term that is only
 * counted. Touches what differs, nothing else; the hashes of those terms come back.
 */
export async function moveTerms(tx: Queries, crateId: number, old: Ranks, now: Ranks): Promise<number[]> {
  const gone = [...old.keys()].filter(term => !now.has(term))
  const come = [...now.keys()].filter(term => !old.has(term))
  const moved = [...now.keys()].filter(term => old.has(term) && old.get(term) !== now.get(term))
  for (let at = 0; at < gone.length; at += CHUNK) await leave(tx, crateId, gone.slice(at, at + CHUNK), old)
  for (let at = 0; at < come.length; at += CHUNK) await enter(tx, crateId, come.slice(at, at + CHUNK), now)
  for (let at = 0; at < moved.length; at += CHUNK) await move(tx, crateId, moved.slice(at, at + CHUNK), old, now)
  return [...gone, ...come, ...moved].filter(term => term !== '').map(hashOf)
}

/** Word → rank, or null for a word that is only counted. */
type Ranks = ReadonlyMap<string, number | null>

interface Term {
  readonly id: number
  readonly term: string
  readonly common: number
}

const TERM = ['id', 'term', 'crates', 'common'] as const

async function leave(tx: Queries, crateId: number, terms: readonly string[], old: Ranks): Promise<void> {
  const rows = await tx
    .updateTable('terms')
    .set({ crates: sql`crates - 1` })
    .where('term', 'in', terms)
    .returning(TERM)
    .execute()
  const ids = rows.map(row => row.id)
  await tx.deleteFrom('postings').where('crate_id', '=', crateId).where('term_id', 'in', ids).execute()
  await changeBlocks(tx, crateId, changesOf(rows, old, false))
  // Only at half, so that a word on the border does not go to and fro.
  const rare = rows.filter(row => row.common === 1 && row.crates < COMMON_FROM / 2).map(row => row.id)
  await dropBlocks(tx, rare)
  const unused = rows.filter(row => row.crates === 0).map(row => row.id)
  if (unused.length > 0) await tx.deleteFrom('terms').where('id', 'in', unused).execute()
}

async function enter(tx: Queries, crateId: number, terms: readonly string[], ranks: Ranks): Promise<void> {
  const rows = await tx
    .insertInto('terms')
    .values(terms.map(term => ({ term, crates: 1, hash: term === '' ? NO_HASH : hashOf(term) })))
    .onConflict(conflict => conflict.column('term').doUpdateSet({ crates: sql`terms.crates + 1` }))
    .returning(TERM)
    .execute()
  await insertPostings(tx, crateId, rows, ranks)
  await changeBlocks(tx, crateId, changesOf(rows, ranks, true))
  for (const row of rows) {
    const isSearched = typeof ranks.get(row.term) === 'number'
    if (isSearched && row.common === 0 && row.crates >= COMMON_FROM) await makeBlocks(tx, row.id)
  }
}

async function move(tx: Queries, crateId: number, terms: readonly string[], old: Ranks, now: Ranks): Promise<void> {
  const rows = await tx.selectFrom('terms').select(TERM).where('term', 'in', terms).execute()
  const ids = rows.map(row => row.id)
  await tx.deleteFrom('postings').where('crate_id', '=', crateId).where('term_id', 'in', ids).execute()
  await insertPostings(tx, crateId, rows, now)
  await changeBlocks(tx, crateId, [...changesOf(rows, old, false), ...changesOf(rows, now, true)])
}

function changesOf(rows: readonly Term[], ranks: Ranks, isFound: boolean): BlockChange[] {
  return rows.flatMap(({ id, term, common }) => {
    const rank = ranks.get(term) ?? null
    return common === 1 && rank !== null ? [{ termId: id, rank, isFound }] : []
  })
}

async function insertPostings(tx: Queries, crateId: number, rows: readonly Term[], ranks: Ranks): Promise<void> {
  const postings = rows.flatMap(({ id, term }) => {
    const rank = ranks.get(term) ?? null
    return rank === null ? [] : [{ term_id: id, rank, crate_id: crateId }]
  })
  if (postings.length > 0) await tx.insertInto('postings').values(postings).execute()
}
