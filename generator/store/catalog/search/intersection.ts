import { CLASSES, YANKED_FROM } from '../../../../core/search/terms.ts'
import { all, type Queries, type Row } from '../../database/statement.ts'
import { BLOCK_CRATES, BLOCK_WORDS, eachBit, readBitmap } from './bitmaps.ts'

/** A part of a list. */
export interface Slice {
  readonly limit: number
  readonly offset: number
}

/** Found crates, best first: the ids on this page, and the number on all pages. */
export interface FoundCrates {
  readonly ids: readonly number[]
  readonly total: number
}

/**
 * Returns the crates that all of several terms with bitmaps find, in the order of `searchCrates`.
 * `begins`: the crates whose name begins with the query. The cost hardly depends on the terms.
 */
export async function intersection(
  db: Queries,
  termIds: readonly number[],
  begins: readonly number[],
  { limit, offset }: Slice,
): Promise<FoundCrates> {
  const lengths = await readNameLengths(db)
  const classes = await classesOf(db, termIds, lengths.length / 32)
  const groups = [classes.slice(0, YANKED_FROM), classes.slice(YANKED_FROM)].flatMap(side => [
    takeBits(side, begins, lengths.length),
    ...side,
  ])
  const ids: number[] = []
  let total = 0
  for (const bits of groups) {
    const count = countBits(bits)
    const from = Math.max(offset + ids.length - total, 0)
    if (from < count && ids.length < limit)
      ids.push(...byNameLength(bits, lengths, from, limit - ids.length))
    total += count
  }
  return { ids, total }
}

/** Returns the length of each crate's canonical name, by crate id. */
async function readNameLengths(db: Queries): Promise<Uint8Array> {
  const rows = await all<Row<'name_lengths'>>(db, 'SELECT * FROM name_lengths ORDER BY block')
  const lengths = new Uint8Array(((rows.at(-1)?.block ?? -1) + 1) * BLOCK_CRATES)
  for (const row of rows) lengths.set(new Uint8Array(row.lengths), row.block * BLOCK_CRATES)
  return lengths
}

/**
 * Returns the crates that all terms find, as bits by id: `words` words for each class. A crate is
 * in the worst class with which one of the terms finds it.
 */
async function classesOf(
  db: Queries,
  termIds: readonly number[],
  words: number,
): Promise<Uint32Array[]> {
  // All classes are in one array. The next better class is `words` words back; the best classes of
  // unyanked and of yanked crates have none.
  const yanked = YANKED_FROM * words
  const isBest = (at: number) => at < words || (at >= yanked && at < yanked + words)
  const found = new Uint32Array(CLASSES * words).fill(0xffffffff)
  for (const termId of termIds) {
    const own = new Uint32Array(CLASSES * words)
    const rows = await all<Row<'blocks'>>(db, 'SELECT * FROM blocks WHERE term_id = ?', termId)
    for (const row of rows) readBitmap(row.crates, own, row.class * words + row.block * BLOCK_WORDS)
    // Add the crates that the term finds with a better class.
    for (let at = words; at < own.length; at++)
      if (!isBest(at)) own[at] = (own[at] ?? 0) | (own[at - words] ?? 0)
    for (let at = 0; at < own.length; at++) found[at] = (found[at] ?? 0) & (own[at] ?? 0)
  }
  for (let at = found.length - 1; at >= words; at--)
    if (!isBest(at)) found[at] = (found[at] ?? 0) & ~(found[at - words] ?? 0)
  return Array.from({ length: CLASSES }, (_, at) => found.subarray(at * words, (at + 1) * words))
}

/** Removes crates from several arrays of bits; returns the removed bits. */
function takeBits(from: readonly Uint32Array[], ids: readonly number[], size: number): Uint32Array {
  const taken = new Uint32Array(size / 32)
  for (const id of ids.filter(one => one < size)) {
    const [word, bit] = [id >>> 5, 1 << (id & 31)]
    for (const bits of from) {
      taken[word] = (taken[word] ?? 0) | ((bits[word] ?? 0) & bit)
      bits[word] = (bits[word] ?? 0) & ~bit
    }
  }
  return taken
}

/** Returns a slice of some crates, shorter names first; sorts only as many as needed. */
function byNameLength(
  bits: Uint32Array,
  lengths: Uint8Array,
  from: number,
  limit: number,
): number[] {
  const counts = new Uint32Array(256)
  eachBit(bits, id => {
    const length = lengths[id] ?? 0
    counts[length] = (counts[length] ?? 0) + 1
  })
  // The first length in the slice, and the number of crates with shorter names.
  let [first, before] = [0, 0]
  while (first < 255 && before + (counts[first] ?? 0) <= from) before += counts[first++] ?? 0
  let [last, until] = [first, before + (counts[first] ?? 0)]
  while (last < 255 && until < from + limit) until += counts[++last] ?? 0
  const ids: number[] = []
  eachBit(bits, id => {
    const length = lengths[id] ?? 0
    if (length >= first && length <= last) ids.push(id)
  })
  return ids
    .sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0) || a - b)
    .slice(from - before, from - before + limit)
}

/** Counts the bits that are set (Hacker's Delight, 5-1). */
function countBits(bits: Uint32Array): number {
  let count = 0
  for (const word of bits) {
    let n = word - ((word >>> 1) & 0x55555555)
    n = (n & 0x33333333) + ((n >>> 2) & 0x33333333)
    count += Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return count
}
