import { shelfOf } from '../../../../core/search/score.ts'
import { classOf } from '../../../../core/search/terms.ts'
import { all, LIST, type Queries, type Row, run, upsert } from '../../database/statement.ts'

/**
 * The number of crates in a block: those with adjacent ids. A bitmap has a bit for each crate of a
 * block: whether a term finds it with a rank of one class (`classOf`).
 */
export const BLOCK_CRATES = 4096
/** 32-bit words of a bitmap. */
export const BLOCK_WORDS = BLOCK_CRATES / 32
const BLOCK_BYTES = BLOCK_CRATES / 8

/** A term that finds this many crates or more gets bitmaps. */
export const BITMAPS_FROM = 1024

/** A term that now finds, or no longer finds, a crate with a rank. */
export interface BitmapChange {
  readonly termId: number
  readonly rank: number
  readonly isFound: boolean
}

/** Changes the bits of one crate; each pair of term and class may occur once. */
export async function changeBitmaps(
  tx: Queries,
  crateId: number,
  changes: readonly BitmapChange[],
): Promise<void> {
  if (changes.length === 0) return
  const { block, place } = placeOf(crateId)
  const rows = await all<Row<'blocks'>>(
    tx,
    `SELECT term_id, block, class, crates FROM blocks WHERE term_id IN ${LIST} AND block = ?`,
    changes.map(one => one.termId),
    block,
  )
  for (const { termId, rank, isFound } of changes) {
    const old = rows.find(row => row.term_id === termId && row.class === classOf(rank))
    const places = new Set(old ? placesOf(old.crates as ArrayBuffer) : [])
    if (isFound) places.add(place)
    else places.delete(place)
    await writeBitmap(tx, termId, block, classOf(rank), places)
  }
}

/**
 * Counts the crates of terms that have bitmaps by their shelves, after a crate has left the first
 * shelf of a pair and come to the second; null for none.
 */
export async function changeShelves(
  tx: Queries,
  termIds: readonly number[],
  [from, to]: readonly [number | null, number | null],
): Promise<void> {
  if (from === to || termIds.length === 0) return
  if (to !== null) {
    const rows = termIds.map(id => [id])
    await run(tx, ENTER_SHELF, to, rows)
  }
  if (from === null) return
  await run(tx, LEAVE_SHELF, from, termIds)
  await run(
    tx,
    `DELETE FROM shelves WHERE shelf = ? AND term_id IN ${LIST} AND crates = 0`,
    from,
    termIds,
  )
}

const ENTER_SHELF = `INSERT INTO shelves (term_id, shelf, crates)
  SELECT CAST(value ->> 0 AS INTEGER), ?, 1 FROM json_each(?) WHERE true
  ON CONFLICT (term_id, shelf) DO UPDATE SET crates = shelves.crates + 1`
const LEAVE_SHELF = `UPDATE shelves SET crates = crates - 1 WHERE shelf = ? AND term_id IN ${LIST}`

/** Creates the bitmaps of a term, and counts its shelves. */
export async function makeBitmaps(tx: Queries, termId: number): Promise<void> {
  const rows = await all<Pick<Row<'postings'>, 'rank' | 'crate_id'>>(
    tx,
    'SELECT rank, crate_id FROM postings WHERE term_id = ?',
    termId,
  )
  const shelves = new Map<number, number>()
  const bitmaps = new Map<string, { block: number; rank: number; places: Set<number> }>()
  for (const { rank, crate_id } of rows) {
    const shelf = shelfOf(crate_id, rank)
    shelves.set(shelf, (shelves.get(shelf) ?? 0) + 1)
    const { block, place } = placeOf(crate_id)
    const key = `${block} ${classOf(rank)}`
    const bitmap = bitmaps.get(key) ?? { block, rank, places: new Set() }
    bitmap.places.add(place)
    bitmaps.set(key, bitmap)
  }
  for (const { block, rank, places } of bitmaps.values())
    await writeBitmap(tx, termId, block, classOf(rank), places)
  const text = `INSERT INTO shelves (term_id, shelf, crates)
    SELECT ?, CAST(value ->> 0 AS INTEGER), CAST(value ->> 1 AS INTEGER) FROM json_each(?)`
  await run(tx, text, termId, [...shelves])
  await run(tx, 'UPDATE terms SET common = 1 WHERE id = ?', termId)
}

/** Removes the bitmaps and the shelves of terms. */
export async function dropBitmaps(tx: Queries, termIds: readonly number[]): Promise<void> {
  if (termIds.length === 0) return
  await run(tx, `DELETE FROM blocks WHERE term_id IN ${LIST}`, termIds)
  await run(tx, `DELETE FROM shelves WHERE term_id IN ${LIST}`, termIds)
  await run(tx, `UPDATE terms SET common = 0 WHERE id IN ${LIST}`, termIds)
}

/** Returns the block of a crate, and its place in the block. */
export function placeOf(crateId: number): { block: number; place: number } {
  return { block: Math.floor(crateId / BLOCK_CRATES), place: crateId % BLOCK_CRATES }
}

async function writeBitmap(
  tx: Queries,
  termId: number,
  block: number,
  ofClass: number,
  places: ReadonlySet<number>,
): Promise<void> {
  if (places.size === 0) {
    const text = 'DELETE FROM blocks WHERE term_id = ? AND block = ? AND class = ?'
    await run(tx, text, termId, block, ofClass)
  } else {
    const row = { term_id: termId, block, class: ofClass, crates: bytesOf(places) }
    await upsert(tx, 'blocks', ['term_id', 'block', 'class'], row)
  }
}

/** Sets the bits of a stored bitmap in `bits`, from the 32-bit word `start` on. */
export function readBitmap(bytes: ArrayBuffer, bits: Uint32Array, start: number): void {
  const view = new DataView(bytes)
  const isList = bytes.byteLength < BLOCK_BYTES
  for (let at = 0; at < bytes.byteLength; at += isList ? 2 : 4) {
    const place = isList ? view.getUint16(at, true) : at * 8
    const word = start + (place >>> 5)
    const set = isList ? 1 << (place & 31) : view.getUint32(at, true)
    bits[word] = (bits[word] ?? 0) | set
  }
}

/** Returns the places of the crates of a stored bitmap, ascending. */
export function placesOf(bytes: ArrayBuffer): number[] {
  const bits = new Uint32Array(BLOCK_WORDS)
  readBitmap(bytes, bits, 0)
  const places: number[] = []
  eachBit(bits, place => places.push(place))
  return places
}

/**
 * Returns a bitmap as it is stored: a few bits as a list of their places (16 bits each,
 * little-endian), many as the bits themselves. A list is always shorter.
 */
export function bytesOf(places: Iterable<number>): Uint8Array {
  const sorted = Uint16Array.from(places).sort()
  const isList = sorted.length * 2 < BLOCK_BYTES
  const bytes = Buffer.alloc(isList ? sorted.length * 2 : BLOCK_BYTES)
  for (const [at, place] of sorted.entries()) {
    if (isList) bytes.writeUInt16LE(place, at * 2)
    else bytes[place >>> 3] = (bytes[place >>> 3] ?? 0) | (1 << (place & 7))
  }
  return bytes
}

/** Calls `work` with the number of each bit that is set, ascending. */
export function eachBit(bits: Uint32Array, work: (bit: number) => void): void {
  for (let at = 0; at < bits.length; at++) {
    for (let rest = bits[at] ?? 0; rest !== 0; rest &= rest - 1)
      work(at * 32 + 31 - Math.clz32(rest & -rest))
  }
}
