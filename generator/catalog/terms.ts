import { sql } from 'kysely'
import { hashOf, POSTINGS_MAX, rangeOf } from '../render.ts'
import { commonSubject, rangesOfTerm } from './buckets.ts'
import type { Queries } from './record.ts'

/** Most values of one statement. */
const CHUNK = 500

/** The hash of the empty word, which is only counted and in no file. */
const NO_HASH = -1

/** The subjects of marks of what changed for the browser's search: hashes of terms, and those of common ones with a range. */
export interface MovedTerms {
  readonly search: readonly number[]
  readonly common: readonly number[]
}

/** A term that changed, as it is now. */
interface Changed {
  readonly id: number
  readonly term: string
  readonly crates: number
}

/**
 * Moves a crate from the terms that found it to those that find it now: term → rank, or null for a term that is only
 * counted. Touches what differs, nothing else.
 */
export async function moveTerms(
  tx: Queries,
  crateId: number,
  old: ReadonlyMap<string, number | null>,
  now: ReadonlyMap<string, number | null>,
): Promise<MovedTerms> {
  const gone = [...old.keys()].filter(term => !now.has(term))
  const come = [...now.keys()].filter(term => !old.has(term))
  const moved = [...now.keys()].filter(term => old.has(term) && old.get(term) !== now.get(term))
  const left: Changed[] = []
  const entered: Changed[] = []
  const stayed: Changed[] = []
  for (const part of chunks(gone)) left.push(...(await leave(tx, crateId, part)))
  for (const part of chunks(come)) entered.push(...(await enter(tx, crateId, part, now)))
  for (const part of chunks(moved)) stayed.push(...(await move(tx, crateId, part, now)))
  const searched = [...left, ...entered, ...stayed].filter(one => one.term !== '')
  // A term that has just become common, or is so no longer, has other files altogether.
  const turned = new Set(
    [
      ...left.filter(one => one.crates === POSTINGS_MAX),
      ...entered.filter(one => one.crates === POSTINGS_MAX + 1),
    ].filter(one => one.term !== ''),
  )
  const common: number[] = []
  for (const one of searched.filter(term => term.crates > POSTINGS_MAX || turned.has(term))) {
    const ranges = turned.has(one) ? await rangesOfTerm(tx, one.id) : []
    for (const range of [rangeOf(crateId), ...ranges]) common.push(commonSubject(hashOf(one.term), range))
  }
  return { search: searched.map(one => hashOf(one.term)), common }
}

async function leave(tx: Queries, crateId: number, terms: readonly string[]): Promise<Changed[]> {
  const rows = await tx
    .updateTable('terms')
    .set({ crates: sql`crates - 1` })
    .where('term', 'in', terms)
    .returning(['id', 'term', 'crates'])
    .execute()
  const ids = rows.map(row => row.id)
  await tx.deleteFrom('postings').where('crate_id', '=', crateId).where('term_id', 'in', ids).execute()
  const unused = rows.filter(row => row.crates === 0).map(row => row.id)
  if (unused.length > 0) await tx.deleteFrom('terms').where('id', 'in', unused).execute()
  return rows
}

async function enter(
  tx: Queries,
  crateId: number,
  terms: readonly string[],
  ranks: ReadonlyMap<string, number | null>,
): Promise<Changed[]> {
  const rows = await tx
    .insertInto('terms')
    .values(terms.map(term => ({ term, crates: 1, hash: term === '' ? NO_HASH : hashOf(term) })))
    .onConflict(conflict => conflict.column('term').doUpdateSet({ crates: sql`terms.crates + 1` }))
    .returning(['id', 'term', 'crates'])
    .execute()
  await insertPostings(tx, crateId, rows, ranks)
  return rows
}

async function move(
  tx: Queries,
  crateId: number,
  terms: readonly string[],
  ranks: ReadonlyMap<string, number | null>,
): Promise<Changed[]> {
  const rows = await tx.selectFrom('terms').select(['id', 'term', 'crates']).where('term', 'in', terms).execute()
  const ids = rows.map(row => row.id)
  await tx.deleteFrom('postings').where('crate_id', '=', crateId).where('term_id', 'in', ids).execute()
  await insertPostings(tx, crateId, rows, ranks)
  return rows
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

function* chunks(terms: readonly string[]): Iterable<string[]> {
  for (let at = 0; at < terms.length; at += CHUNK) yield terms.slice(at, at + CHUNK)
}
