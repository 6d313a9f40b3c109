import { classOf } from '../../../../core/search/terms.ts'
import { bytesOf } from '../../database/blocks.ts'
import type { Queries } from '../change.ts'
import { POSTING_BLOCK_CRATES, placeInBlock, placesOf, writeBlock } from './posting-block.ts'

/** A word that finds this many crates is common: from then on its crates are kept as bits, too. */
export const COMMON_FROM = 1024

/** A crate that a common word has come to find, or no longer finds, at a rank. */
export interface BlockChange {
  readonly termId: number
  readonly rank: number
  readonly isFound: boolean
}

/** Applies the changes of one crate to the blocks of common words. */
export async function changeBlocks(
  tx: Queries,
  crateId: number,
  changes: readonly BlockChange[],
): Promise<void> {
  if (changes.length === 0) return
  const { block, place } = placeInBlock(crateId)
  const termIds = [...new Set(changes.map(one => one.termId))]
  const rows = await tx
    .selectFrom('blocks')
    .selectAll()
    .where('term_id', 'in', termIds)
    .where('block', '=', block)
    .execute()
  const places = new Map(
    rows.map(row => [`${row.term_id} ${row.class}`, new Set(placesOf(bytesOf(row.crates)))]),
  )
  for (const { termId, rank, isFound } of changes) {
    const key = `${termId} ${classOf(rank)}`
    const set = places.get(key) ?? new Set()
    places.set(key, set)
    if (isFound) set.add(place)
    else set.delete(place)
  }
  await tx.deleteFrom('blocks').where('term_id', 'in', termIds).where('block', '=', block).execute()
  await insertBlocks(tx, block, places)
}

/** Makes the blocks of a word that has become common. */
export async function makeBlocks(tx: Queries, termId: number): Promise<void> {
  const rows = await tx
    .selectFrom('postings')
    .select(['rank', 'crate_id'])
    .where('term_id', '=', termId)
    .execute()
  const blocks = new Map<number, Map<string, Set<number>>>()
  for (const row of rows) {
    const { block, place } = placeInBlock(row.crate_id)
    const classes = blocks.get(block) ?? new Map<string, Set<number>>()
    blocks.set(block, classes)
    const key = `${termId} ${classOf(row.rank)}`
    const places = classes.get(key) ?? new Set()
    classes.set(key, places.add(place))
  }
  for (const [block, classes] of blocks) await insertBlocks(tx, block, classes)
  await tx.updateTable('terms').set({ common: 1 }).where('id', '=', termId).execute()
}

/** Forgets the blocks of words that are no longer common. */
export async function dropBlocks(tx: Queries, termIds: readonly number[]): Promise<void> {
  if (termIds.length === 0) return
  await tx.deleteFrom('blocks').where('term_id', 'in', termIds).execute()
  await tx.updateTable('terms').set({ common: 0 }).where('id', 'in', termIds).execute()
}

/** Remembers how long the canonical name of a crate is, which never changes. */
export async function keepNameLength(tx: Queries, crateId: number, length: number): Promise<void> {
  const { block, place } = placeInBlock(crateId)
  const row = await tx
    .selectFrom('name_lengths')
    .select('lengths')
    .where('block', '=', block)
    .executeTakeFirst()
  const lengths = Buffer.alloc(POSTING_BLOCK_CRATES)
  if (row) lengths.set(bytesOf(row.lengths))
  if (lengths[place] === length) return
  lengths[place] = length
  await tx
    .insertInto('name_lengths')
    .values({ block, lengths })
    .onConflict(conflict => conflict.column('block').doUpdateSet({ lengths }))
    .execute()
}

/** Places by term and class, as `"12 4"`. */
async function insertBlocks(
  tx: Queries,
  block: number,
  places: ReadonlyMap<string, ReadonlySet<number>>,
): Promise<void> {
  const rows = [...places].flatMap(([key, set]) => {
    const [termId = 0, of = 0] = key.split(' ').map(Number)
    return set.size === 0 ? [] : [{ term_id: termId, block, class: of, crates: writeBlock(set) }]
  })
  if (rows.length > 0) await tx.insertInto('blocks').values(rows).execute()
}
