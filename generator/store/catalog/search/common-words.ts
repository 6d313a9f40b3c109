import { CLASSES, YANKED_FROM } from '../../../../core/search/terms.ts'
import { bytesOf } from '../../database/blocks.ts'
import type { Queries } from '../change.ts'
import { BLOCK_WORDS, POSTING_BLOCK_CRATES, readBlock } from './posting-block.ts'
import type { FoundCrates, Slice } from './slice.ts'

/**
 * The crates that several common words find, in the order of `searchCrates`. Works on bits, in
 * blocks of 4,096 crates, so the cost hardly depends on the words. `begins`: crates whose name
 * begins with the query.
 */
export async function commonWords(
  db: Queries,
  termIds: readonly number[],
  begins: readonly number[],
  slice: Slice,
): Promise<FoundCrates> {
  const size = await blockCount(db)
  const levels = new Levels(size)
  await levels.fill(db, termIds)
  const lengths = await nameLengths(db, size)
  const groups = levels.groups(
    begins.filter(id => id < size * POSTING_BLOCK_CRATES),
    lengths,
  )
  const total = groups.reduce((sum, group) => sum + group.count, 0)
  const ids: number[] = []
  let before = 0
  for (const group of groups) {
    const from = Math.max(slice.offset + ids.length - before, 0)
    if (from < group.count && ids.length < slice.limit)
      ids.push(...group.ids(from, slice.limit - ids.length))
    before += group.count
  }
  return { ids, total }
}

/** Crates that come one after the other in the results. */
interface Group {
  readonly count: number
  ids(from: number, limit: number): number[]
}

async function blockCount(db: Queries): Promise<number> {
  const row = await db
    .selectFrom('name_lengths')
    .select(eb => eb.fn.max('block').as('last'))
    .executeTakeFirst()
  return (row?.last ?? -1) + 1
}

async function nameLengths(db: Queries, size: number): Promise<Uint8Array> {
  const lengths = new Uint8Array(size * POSTING_BLOCK_CRATES)
  for (const row of await db.selectFrom('name_lengths').selectAll().execute()) {
    lengths.set(bytesOf(row.lengths), row.block * POSTING_BLOCK_CRATES)
  }
  return lengths
}

/** Which crates all words find, by the worst of the classes at which they find them. */
class Levels {
  readonly #size: number
  /**
   * Bits of the crates that all words find at this class or a better one of the same side, unyanked
   * or yanked.
   */
  readonly #bits: Uint32Array[]

  constructor(size: number) {
    this.#size = size
    this.#bits = Array.from({ length: CLASSES }, () => new Uint32Array(size * BLOCK_WORDS))
  }

  async fill(db: Queries, termIds: readonly number[]): Promise<void> {
    const scratch = this.#bits.map(() => new Uint32Array(this.#size * BLOCK_WORDS))
    for (const [at, termId] of termIds.entries()) {
      const own = at === 0 ? this.#bits : scratch
      for (const bits of scratch) bits.fill(0)
      const rows = await db.selectFrom('blocks').selectAll().where('term_id', '=', termId).execute()
      for (const row of rows) {
        const bits = own[row.class]
        if (bits) readBlock(bytesOf(row.crates), bits, row.block * BLOCK_WORDS)
      }
      for (let of = 1; of < CLASSES; of++)
        if (of !== YANKED_FROM) join(own[of], own[of - 1], (a, b) => a | b)
      if (at > 0)
        for (const [of, bits] of this.#bits.entries()) join(bits, own[of], (a, b) => a & b)
    }
    for (let of = CLASSES - 1; of > 0; of--) {
      if (of !== YANKED_FROM) join(this.#bits[of], this.#bits[of - 1], (a, b) => a & ~b)
    }
  }

  /**
   * The groups in order: on each side those whose name begins with the query, then class by class.
   */
  groups(begins: readonly number[], lengths: Uint8Array): Group[] {
    const taken = this.#bits.map(bits => begins.filter(id => take(bits, id)))
    const sides = [taken.slice(0, YANKED_FROM), taken.slice(YANKED_FROM)].map(side =>
      listed(side.flat(), lengths),
    )
    const classes = this.#bits.map(bits => classGroup(bits, lengths))
    const [unyanked, yanked] = sides
    return [
      ...(unyanked ? [unyanked] : []),
      ...classes.slice(0, YANKED_FROM),
      ...(yanked ? [yanked] : []),
      ...classes.slice(YANKED_FROM),
    ]
  }
}

function join(
  into: Uint32Array | undefined,
  other: Uint32Array | undefined,
  how: (a: number, b: number) => number,
) {
  if (!into || !other) return
  for (let at = 0; at < into.length; at++) into[at] = how(into[at] ?? 0, other[at] ?? 0)
}

/** Takes a crate's bit off; whether it was set. */
function take(bits: Uint32Array, id: number): boolean {
  const word = bits[id >>> 5] ?? 0
  const bit = 1 << (id & 31)
  bits[id >>> 5] = word & ~bit
  return (word & bit) !== 0
}

function listed(ids: readonly number[], lengths: Uint8Array): Group {
  const sorted = [...ids].sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0) || a - b)
  return { count: sorted.length, ids: (from, limit) => sorted.slice(from, from + limit) }
}

/** The crates of one class, shorter names first; sorted only as far as it is looked at. */
function classGroup(bits: Uint32Array, lengths: Uint8Array): Group {
  let count = 0
  for (const word of bits) count += ones(word)
  return {
    count,
    ids: (from, limit) => {
      const counts = new Uint32Array(256)
      eachBit(bits, id => {
        const length = lengths[id] ?? 0
        counts[length] = (counts[length] ?? 0) + 1
      })
      // The lengths that the slice touches, and how many crates come before the first of them.
      let [first, before] = [0, 0]
      while (first < 255 && before + (counts[first] ?? 0) <= from) before += counts[first++] ?? 0
      let [last, until] = [first, before + (counts[first] ?? 0)]
      while (last < 255 && until < from + limit) until += counts[++last] ?? 0
      const ids: number[] = []
      eachBit(bits, id => {
        const length = lengths[id] ?? 0
        if (length >= first && length <= last) ids.push(id)
      })
      return listed(ids, lengths).ids(from - before, limit)
    },
  }
}

function eachBit(bits: Uint32Array, work: (id: number) => void): void {
  for (const [at, word] of bits.entries()) {
    for (let rest = word; rest !== 0; rest &= rest - 1)
      work(at * 32 + 31 - Math.clz32(rest & -rest))
  }
}

/** How many bits of a word are set (Hacker's Delight, 5-1). */
function ones(word: number): number {
  let n = word - ((word >>> 1) & 0x55555555)
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333)
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
