import { sql } from 'kysely'
import { hashOf, rangeOf } from '../../../../core/search/buckets.ts'
import { POSTINGS_MAX } from '../../../../core/search/postings.ts'
import type { Queries } from '../change.ts'
import {
  type BlockChange,
  COMMON_FROM,
  changeBlocks,
  dropBlocks,
  makeBlocks,
} from './block-changes.ts'
import { commonSubject, rangesOfTerm } from './buckets.ts'

/** Most values of one statement. */
const CHUNK = 500

/** The hash of the empty word, which is only counted and in no file. */
const NO_HASH = -1

/** What changed for the browser's search: subjects of `search` and of `common` marks. */
export interface MovedTerms {
  readonly search: readonly number[]
  readonly common: readonly number[]
}

/**
 * Moves a crate from the terms that found it to those that find it now, writing only what differs.
 * Terms have a rank, or null when they are only counted.
 */
export async function moveTerms(
  tx: Queries,
  crateId: number,
  old: Ranks,
  now: Ranks,
): Promise<MovedTerms> {
  const gone = [...old.keys()].filter(term => !now.has(term))
  const come = [...now.keys()].filter(term => !old.has(term))
  const moved = [...now.keys()].filter(term => old.has(term) && old.get(term) !== now.get(term))
  const left: Term[] = []
  const entered: Term[] = []
  const stayed: Term[] = []
  for (const part of chunks(gone)) left.push(...(await leave(tx, crateId, part, old)))
  for (const part of chunks(come)) entered.push(...(await enter(tx, crateId, part, now)))
  for (const part of chunks(moved)) stayed.push(...(await move(tx, crateId, part, old, now)))
  return movedTerms(tx, crateId, { left, entered, stayed })
}

/** The files of the browser's search that change with terms whose crates or ranks have changed. */
async function movedTerms(
  tx: Queries,
  crateId: number,
  { left, entered, stayed }: Readonly<Record<'left' | 'entered' | 'stayed', readonly Term[]>>,
): Promise<MovedTerms> {
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
    for (const range of [rangeOf(crateId), ...ranges])
      common.push(commonSubject(hashOf(one.term), range))
  }
  return { search: searched.map(one => hashOf(one.term)), common }
}

/** Word → rank, or null for a word that is only counted. */
type Ranks = ReadonlyMap<string, number | null>

/** A term as it is now. */
interface Term {
  readonly id: number
  readonly term: string
  readonly crates: number
  /** Whether its crates are kept as bits, too. */
  readonly common: number
}

const TERM = ['id', 'term', 'crates', 'common'] as const

async function leave(
  tx: Queries,
  crateId: number,
  terms: readonly string[],
  old: Ranks,
): Promise<Term[]> {
  const rows = await tx
    .updateTable('terms')
    .set({ crates: sql`crates - 1` })
    .where('term', 'in', terms)
    .returning(TERM)
    .execute()
  const ids = rows.map(row => row.id)
  await tx
    .deleteFrom('postings')
    .where('crate_id', '=', crateId)
    .where('term_id', 'in', ids)
    .execute()
  await changeBlocks(tx, crateId, changesOf(rows, old, false))
  // Only at half, so that a word on the border does not go to and fro.
  const rare = rows
    .filter(row => row.common === 1 && row.crates < COMMON_FROM / 2)
    .map(row => row.id)
  await dropBlocks(tx, rare)
  const unused = rows.filter(row => row.crates === 0).map(row => row.id)
  if (unused.length > 0) await tx.deleteFrom('terms').where('id', 'in', unused).execute()
  return rows
}

async function enter(
  tx: Queries,
  crateId: number,
  terms: readonly string[],
  ranks: Ranks,
): Promise<Term[]> {
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
  return rows
}

async function move(
  tx: Queries,
  crateId: number,
  terms: readonly string[],
  old: Ranks,
  now: Ranks,
): Promise<Term[]> {
  const rows = await tx.selectFrom('terms').select(TERM).where('term', 'in', terms).execute()
  const ids = rows.map(row => row.id)
  await tx
    .deleteFrom('postings')
    .where('crate_id', '=', crateId)
    .where('term_id', 'in', ids)
    .execute()
  await insertPostings(tx, crateId, rows, now)
  await changeBlocks(tx, crateId, [...changesOf(rows, old, false), ...changesOf(rows, now, true)])
  return rows
}

function changesOf(rows: readonly Term[], ranks: Ranks, isFound: boolean): BlockChange[] {
  return rows.flatMap(({ id, term, common }) => {
    const rank = ranks.get(term) ?? null
    return common === 1 && rank !== null ? [{ termId: id, rank, isFound }] : []
  })
}

async function insertPostings(
  tx: Queries,
  crateId: number,
  rows: readonly Term[],
  ranks: Ranks,
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
