import { setImmediate } from 'node:timers/promises'
import type { Sort } from '../../../../core/paths/search.ts'
import { column, LIST, type Queries, value } from '../../database/statement.ts'
import { eachBit } from './bitmaps.ts'
import { countBits } from './crate-sets.ts'

/** A part of a list. */
export interface Slice {
  readonly limit: number
  readonly offset: number
}

/** The orders besides relevance; an index has each. */
export type StoredOrder = Exclude<Sort, 'relevance'>

const ORDER_BY: Readonly<Record<StoredOrder, string>> = {
  name: 'canonical',
  newest: 'updated_at DESC, crate_id DESC',
  dependents: 'dependents DESC, canonical',
}

/** Up to this many crates are sorted; of more, the first ones are looked for in an index. */
const SORTED_MAX = 4000

/** Number of rows of an index that are read at once. */
const CHUNK = 5000

/** Returns a slice of some crates in an order; `groups` one after the other. */
export async function sortedIds(
  db: Queries,
  groups: readonly Uint32Array[],
  order: StoredOrder,
  { limit, offset }: Slice,
): Promise<number[]> {
  const ids: number[] = []
  let before = 0
  for (const bits of groups) {
    const count = countBits(bits)
    const from = Math.max(offset + ids.length - before, 0)
    const wanted = Math.min(limit - ids.length, count - from)
    if (wanted > 0) ids.push(...(await sortedOf(db, bits, count, order, from, wanted)))
    before += count
  }
  return ids
}

async function sortedOf(
  db: Queries,
  bits: Uint32Array,
  count: number,
  order: StoredOrder,
  from: number,
  limit: number,
): Promise<number[]> {
  if (count > SORTED_MAX) return walk(db, bits, order, from, limit)
  const all: number[] = []
  eachBit(bits, id => all.push(id))
  const text = `SELECT crate_id FROM listings WHERE crate_id IN ${LIST}
    ORDER BY ${ORDER_BY[order]} LIMIT ? OFFSET ?`
  return column(db, text, all, limit, from)
}

/** Reads the index until enough of its crates are among those in `bits`. */
async function walk(
  db: Queries,
  bits: Uint32Array,
  order: StoredOrder,
  from: number,
  limit: number,
): Promise<number[]> {
  const text = `SELECT json_group_array(crate_id) FROM
    (SELECT crate_id FROM listings ORDER BY ${ORDER_BY[order]} LIMIT ${CHUNK} OFFSET ?) AS chunk`
  const ids: number[] = []
  for (let [read, passed] = [0, 0]; ids.length < limit; read += CHUNK) {
    const chunk = JSON.parse((await value<string>(db, text, read)) ?? '[]') as number[]
    if (chunk.length === 0) break
    for (const id of chunk) {
      if (((bits[id >>> 5] ?? 0) & (1 << (id & 31))) === 0) continue
      if (passed++ >= from && ids.length < limit) ids.push(id)
    }
    // Late pages read much of the index: other requests go on in between.
    await setImmediate()
  }
  return ids
}
