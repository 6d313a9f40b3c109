import type { PlannedWord } from '../../../../core/search/plan.ts'
import {
  CLASSES,
  classOf,
  type Likeness,
  similarFit,
  YANKED_FROM,
} from '../../../../core/search/terms.ts'
import { all, LIST, type Queries, type Row } from '../../database/statement.ts'
import { BLOCK_WORDS, eachBit, readBitmap } from './bitmaps.ts'
import { isYankedState } from './crate-bytes.ts'

/**
 * Sets of crates as bits by crate id, `words` words of 32 bits for each class: first those of the
 * unyanked crates, best first, then those of the yanked ones.
 */
export type Sets = Uint32Array

/** A term of the catalog. */
export type TermRow = Row<'terms'>

/** Where the crates of a term go: into some sets, as crates of a word of some likeness. */
interface Target {
  readonly sets: Sets
  readonly likeness: Likeness
}

/** Returns the crates that each word finds, and the crates that each of `filters` finds. */
export async function readSets(
  db: Queries,
  planned: readonly PlannedWord[],
  filters: readonly string[],
  terms: ReadonlyMap<string, TermRow>,
  words: number,
): Promise<{ found: Sets[]; masks: Sets[] }> {
  const targets = new Map<TermRow, Target[]>()
  const read = (variants: PlannedWord['variants']) => {
    const sets = new Uint32Array(CLASSES * words)
    for (const { term, likeness } of variants) {
      const row = terms.get(term)
      if (row) targets.set(row, [...(targets.get(row) ?? []), { sets, likeness }])
    }
    return sets
  }
  const found = planned.map(one => read(one.variants))
  const masks = filters.map(term => read([{ term, likeness: 'same' }]))
  await Promise.all([readCommon(db, targets, words), readRare(db, targets, words)])
  for (const sets of [...found, ...masks]) addBetter(sets, words)
  return { found, masks }
}

async function readCommon(
  db: Queries,
  targets: ReadonlyMap<TermRow, readonly Target[]>,
  words: number,
): Promise<void> {
  const common = new Map([...targets].filter(([row]) => row.common === 1).map(byId))
  if (common.size === 0) return
  const text = `SELECT * FROM blocks WHERE term_id IN ${LIST}`
  for (const row of await all<Row<'blocks'>>(db, text, [...common.keys()])) {
    for (const { sets, likeness } of common.get(row.term_id) ?? []) {
      const place = placeOf(row.class, likeness) * words + row.block * BLOCK_WORDS
      readBitmap(row.crates, sets, place)
    }
  }
}

async function readRare(
  db: Queries,
  targets: ReadonlyMap<TermRow, readonly Target[]>,
  words: number,
): Promise<void> {
  const rare = new Map([...targets].filter(([row]) => row.common === 0).map(byId))
  if (rare.size === 0) return
  // As one text for each term: a row for each crate would take several times as long.
  const text = `SELECT term_id AS id, json_group_array(rank * 4294967296 + crate_id) AS list
    FROM postings WHERE term_id IN ${LIST} GROUP BY term_id`
  for (const { id, list } of await all<{ id: number; list: string }>(db, text, [...rare.keys()])) {
    for (const posting of JSON.parse(list) as number[]) {
      const [rank, crate] = [Math.floor(posting / 2 ** 32), posting % 2 ** 32]
      for (const { sets, likeness } of rare.get(id) ?? []) {
        const at = placeOf(classOf(rank), likeness) * words + (crate >>> 5)
        sets[at] = (sets[at] ?? 0) | (1 << (crate & 31))
      }
    }
  }
}

function byId([row, targets]: [TermRow, readonly Target[]]): [number, readonly Target[]] {
  return [row.id, targets]
}

/** Returns the class of a crate that a word of this likeness finds with a class. */
function placeOf(ofClass: number, likeness: Likeness): number {
  const fit = ofClass % YANKED_FROM
  return ofClass - fit + similarFit(fit, likeness)
}

/** Adds to the crates of each class those of the better ones. */
function addBetter(sets: Sets, words: number): void {
  for (let at = words; at < sets.length; at++)
    if (!isBest(at, words)) sets[at] = (sets[at] ?? 0) | (sets[at - words] ?? 0)
}

/** Reverts `addBetter`. */
export function removeBetter(sets: Sets, words: number): void {
  for (let at = sets.length - 1; at >= words; at--)
    if (!isBest(at, words)) sets[at] = (sets[at] ?? 0) & ~(sets[at - words] ?? 0)
}

/** The best classes of unyanked and of yanked crates have none before them. */
function isBest(at: number, words: number): boolean {
  return at < words || (at >= YANKED_FROM * words && at < (YANKED_FROM + 1) * words)
}

/** Returns the crates of one class. */
export function ofClass(sets: Sets, number: number, words: number): Uint32Array {
  return sets.subarray(number * words, (number + 1) * words)
}

/** Returns the crates of all classes, unyanked or yanked; after `addBetter`. */
export function everyOf(sets: Sets, isYanked: boolean, words: number): Uint32Array {
  return ofClass(sets, isYanked ? CLASSES - 1 : YANKED_FROM - 1, words)
}

/** Returns all listed crates, as if every class had found them. */
export function listedSets(states: Uint8Array, words: number): Sets {
  const sets = new Uint32Array(CLASSES * words)
  const yanked = YANKED_FROM * words
  for (const [id, state] of states.entries()) {
    if (state === 0) continue
    const at = (isYankedState(state) ? yanked : 0) + (id >>> 5)
    sets[at] = (sets[at] ?? 0) | (1 << (id & 31))
  }
  addBetter(sets, words)
  return sets
}

/** Removes from `sets` the crates that are not in any class of `mask`, which had `addBetter`. */
export function keepOnly(sets: Sets, mask: Sets, words: number): void {
  for (const isYanked of [false, true]) {
    const kept = everyOf(mask, isYanked, words)
    const from = isYanked ? YANKED_FROM * words : 0
    for (let at = 0; at < YANKED_FROM * words; at++)
      sets[from + at] = (sets[from + at] ?? 0) & (kept[at % words] ?? 0)
  }
}

/**
 * Returns the crates that the most words find: all of them, or as many as there are crates for. A
 * crate is in the class of the worst of these words. `masks`: crates that count at all.
 */
export function mostWords(
  found: readonly Sets[],
  masks: readonly Sets[],
  words: number,
): { sets: Sets; matched: number } {
  const every = (found[0] ?? new Uint32Array(CLASSES * words)).slice()
  for (const one of found.slice(1))
    for (let at = 0; at < every.length; at++) every[at] = (every[at] ?? 0) & (one[at] ?? 0)
  for (const mask of masks) keepOnly(every, mask, words)
  if (found.length < 2 || every.some(bits => bits !== 0))
    return { sets: every, matched: found.length }
  // The crates that at least one, two, three … of the words so far find.
  const least: Sets[] = []
  for (const one of found) {
    least.push(new Uint32Array(CLASSES * words))
    for (let count = least.length - 1; count >= 0; count--) {
      const [more, fewer] = [least[count] ?? one, least[count - 1]]
      for (let at = 0; at < one.length; at++)
        more[at] = (more[at] ?? 0) | ((fewer ? (fewer[at] ?? 0) : 0xffffffff) & (one[at] ?? 0))
    }
  }
  for (let matched = found.length - 1; matched > 0; matched--) {
    const sets = least[matched - 1] ?? every
    for (const mask of masks) keepOnly(sets, mask, words)
    if (sets.some(bits => bits !== 0)) return { sets, matched }
  }
  return { sets: every, matched: found.length }
}

/** Removes crates from several sets; returns the removed ones. */
export function takeOut(
  from: readonly Uint32Array[],
  ids: readonly number[],
  words: number,
): Uint32Array {
  const taken = new Uint32Array(words)
  for (const id of ids.filter(one => one < words * 32)) {
    const [word, bit] = [id >>> 5, 1 << (id & 31)]
    for (const bits of from) {
      taken[word] = (taken[word] ?? 0) | ((bits[word] ?? 0) & bit)
      bits[word] = (bits[word] ?? 0) & ~bit
    }
  }
  return taken
}

/** Returns a slice of some crates, shorter names first; sorts only as many as needed. */
export function byNameLength(
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
export function countBits(bits: Uint32Array): number {
  let count = 0
  for (const word of bits) {
    let n = word - ((word >>> 1) & 0x55555555)
    n = (n & 0x33333333) + ((n >>> 2) & 0x33333333)
    count += Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return count
}
