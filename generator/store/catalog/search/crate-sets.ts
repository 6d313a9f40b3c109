import type { Variant } from '../../../../core/search/plan.ts'
import {
  CLASSES,
  classOf,
  type Likeness,
  similarFit,
  YANKED_FROM,
} from '../../../../core/search/terms.ts'
import { all, LIST, type Queries, type Row } from '../../database/statement.ts'
import { BLOCK_WORDS, eachBit, readBitmap } from './bitmaps.ts'

/** Crates as bits by crate id. */
export type Bits = Uint32Array

/**
 * The crates of each class and of the better ones: first the unyanked crates, best first, then the
 * yanked ones. Classes that add no crates share their bits.
 */
export type Sets = readonly Bits[]

/** Crates that count at all: among the unyanked ones, and among the yanked ones. */
export type Mask = readonly [unyanked: Bits, yanked: Bits]

/** A term of the catalog. */
export type TermRow = Row<'terms'>

/** Its columns. */
export const TERM = 'id, term, crates, hash, words, grade, start, shape, common'

/** Reads those of some terms that exist. */
export function readTerms(db: Queries, some: readonly string[]): Promise<TermRow[]> {
  return all(db, `SELECT ${TERM} FROM terms WHERE term IN ${LIST}`, some)
}

/** Returns the crates that the variants of a word find; `words`: the length of their bits. */
export async function readSets(
  db: Queries,
  variants: readonly Variant[],
  terms: ReadonlyMap<string, TermRow>,
  words: number,
): Promise<Sets> {
  const own: (Bits | undefined)[] = Array(CLASSES)
  const known = variants.flatMap(({ term, likeness }) => {
    const row = terms.get(term)
    return row ? [{ row, likeness }] : []
  })
  const likenesses = new Map(known.map(({ row, likeness }) => [row.id, likeness]))
  const bitsOf = (termId: number, ofClass: number) => {
    const at = placeOf(ofClass, likenesses.get(termId) ?? 'same')
    own[at] ??= new Uint32Array(words)
    return own[at]
  }
  const ids = (isCommon: boolean) =>
    known.filter(({ row }) => (row.common === 1) === isCommon).map(({ row }) => row.id)
  await Promise.all([readCommon(db, ids(true), bitsOf), readRare(db, ids(false), bitsOf)])
  return withBetter(own, words)
}

/** Returns the bits into which the crates go that a term finds with a class. */
type Target = (termId: number, ofClass: number) => Bits

async function readCommon(db: Queries, ids: readonly number[], bitsOf: Target): Promise<void> {
  if (ids.length === 0) return
  const text = `SELECT term_id, block, class, crates FROM blocks WHERE term_id IN ${LIST}`
  for (const row of await all<Row<'blocks'>>(db, text, ids))
    readBitmap(row.crates as ArrayBuffer, bitsOf(row.term_id, row.class), row.block * BLOCK_WORDS)
}

async function readRare(db: Queries, ids: readonly number[], bitsOf: Target): Promise<void> {
  if (ids.length === 0) return
  // As one text for each term: a row for each crate would take several times as long.
  const text = `SELECT term_id AS id, json_group_array(rank * 4294967296 + crate_id) AS list
    FROM postings WHERE term_id IN ${LIST} GROUP BY term_id`
  for (const { id, list } of await all<{ id: number; list: string }>(db, text, ids))
    for (const posting of JSON.parse(list) as number[])
      setBit(bitsOf(id, classOf(Math.floor(posting / 2 ** 32))), posting % 2 ** 32)
}

/** Returns the class of a crate that a word of this likeness finds with a class. */
function placeOf(ofClass: number, likeness: Likeness): number {
  const fit = ofClass % YANKED_FROM
  return ofClass - fit + similarFit(fit, likeness)
}

/** Adds to the crates of each class those of the better ones, in place. */
function withBetter(own: readonly (Bits | undefined)[], words: number): Sets {
  const none = new Uint32Array(words)
  let better: Bits = none
  return Array.from({ length: CLASSES }, (_, at) => {
    if (isBest(at)) better = none
    const bits = own[at]
    if (bits === undefined) return better
    if (better !== none) addBits(bits, better)
    better = bits
    return bits
  })
}

/** The best classes of unyanked and of yanked crates have none before them. */
function isBest(ofClass: number): boolean {
  return ofClass % YANKED_FROM === 0
}

/** Returns the bytes that some sets take, bits that classes share only once. */
export function sizeOf(sets: Sets): number {
  return [...new Set(sets)].reduce((sum, bits) => sum + bits.byteLength, 0)
}

/** Returns the crates of all classes. */
export function maskOf(sets: Sets): Mask {
  return [everyOf(sets, false), everyOf(sets, true)]
}

/** Returns the crates of all classes, unyanked or yanked. */
export function everyOf(sets: Sets, isYanked: boolean): Bits {
  return sets[isYanked ? CLASSES - 1 : YANKED_FROM - 1] ?? new Uint32Array()
}

/** Returns sets in which every class has the crates of a mask. */
export function evenSets([unyanked, yanked]: Mask): Sets {
  return Array.from({ length: CLASSES }, (_, at) => (at < YANKED_FROM ? unyanked : yanked))
}

/** Returns the crates that are in all of some masks; null when there is no mask. */
export function allMasks(masks: readonly Mask[]): Mask | null {
  const [first, ...others] = masks
  if (first === undefined) return null
  const side = (at: 0 | 1) => allBits([first[at], ...others.map(mask => mask[at])])
  return [side(0), side(1)]
}

/** What a query finds. */
export interface Matches {
  /** The crates that each word finds. */
  readonly found: readonly Sets[]
  /** Crates that count at all; null for all of them. */
  readonly mask: Mask | null
  /** How many of the words the crates have. */
  readonly matched: number
  /** The crates of all classes. */
  readonly crates: Mask
}

/** Finds the crates that the most words find: all of them, or as many as there are crates for. */
export function mostWords(found: readonly Sets[], mask: Mask | null): Matches {
  for (let matched = found.length; matched > 0; matched--) {
    const query = { found, mask, matched }
    const crates: Mask = [matchedBy(query, YANKED_FROM - 1), matchedBy(query, CLASSES - 1)]
    if (crates.some(hasAny)) return { ...query, crates }
  }
  const none = new Uint32Array()
  return { found, mask, matched: found.length, crates: [none, none] }
}

/**
 * Returns the crates of a class and of the better ones. A crate is in the class of the worst of the
 * words that count.
 */
export function matchedBy(
  { found, mask, matched }: Omit<Matches, 'crates'>,
  ofClass: number,
): Bits {
  const sets = found.flatMap(one => (one[ofClass] ? [one[ofClass]] : []))
  const masked = mask ? [mask[ofClass < YANKED_FROM ? 0 : 1]] : []
  if (matched === sets.length) return allBits([...sets, ...masked])
  return allBits([atLeast(sets, matched), ...masked])
}

/** Returns whether a set has crates. */
export function hasAny(bits: Bits): boolean {
  for (const word of bits) if (word !== 0) return true
  return false
}

/** Returns the crates in at least `count` of some sets. */
function atLeast(sets: readonly Bits[], count: number): Bits {
  const least: Bits[] = []
  for (const one of sets) {
    if (least.length < count) least.push(new Uint32Array(one.length))
    for (let number = least.length - 1; number >= 0; number--) {
      const [more, fewer] = [least[number] ?? one, least[number - 1]]
      for (let at = 0; at < one.length; at++)
        more[at] = (more[at] ?? 0) | ((fewer ? (fewer[at] ?? 0) : 0xffffffff) & (one[at] ?? 0))
    }
  }
  return least[count - 1] ?? new Uint32Array()
}

/** Returns the crates that are in all of some sets; a single set is returned itself. */
export function allBits(sets: readonly Bits[]): Bits {
  const [first = new Uint32Array(), ...others] = sets
  if (others.length === 0) return first
  const bits = first.slice()
  for (const one of others)
    for (let at = 0; at < bits.length; at++) bits[at] = (bits[at] ?? 0) & (one[at] ?? 0)
  return bits
}

/** Returns the crates of one set that are not in another one. */
export function without(bits: Bits, others: Bits): Bits {
  const kept = bits.slice()
  for (let at = 0; at < kept.length; at++) kept[at] = (kept[at] ?? 0) & ~(others[at] ?? 0)
  return kept
}

/** Adds the crates of another set. */
export function addBits(bits: Bits, others: Bits): void {
  for (let at = 0; at < bits.length; at++) bits[at] = (bits[at] ?? 0) | (others[at] ?? 0)
}

/** Returns those of some crates that are in a set. */
export function picked(bits: Bits, ids: readonly number[]): Bits {
  const kept = new Uint32Array(bits.length)
  for (const id of ids) if (((bits[id >>> 5] ?? 0) & (1 << (id & 31))) !== 0) setBit(kept, id)
  return kept
}

/** Adds a crate to a set; one whose id is beyond the set is left out. */
export function setBit(bits: Bits, id: number): void {
  bits[id >>> 5] = (bits[id >>> 5] ?? 0) | (1 << (id & 31))
}

/** Returns a slice of some crates, best scores first; sorts only as many as needed. */
export function byScore(bits: Bits, scores: Uint8Array, from: number, limit: number): number[] {
  const counts = new Uint32Array(256)
  eachBit(bits, id => {
    const score = scores[id] ?? 0
    counts[score] = (counts[score] ?? 0) + 1
  })
  // The first score in the slice, and the number of crates with better ones.
  let [first, before] = [0, 0]
  while (first < 255 && before + (counts[first] ?? 0) <= from) before += counts[first++] ?? 0
  let [last, until] = [first, before + (counts[first] ?? 0)]
  while (last < 255 && until < from + limit) until += counts[++last] ?? 0
  const ids: number[] = []
  eachBit(bits, id => {
    const score = scores[id] ?? 0
    if (score >= first && score <= last) ids.push(id)
  })
  return ids
    .sort((a, b) => (scores[a] ?? 0) - (scores[b] ?? 0) || a - b)
    .slice(from - before, from - before + limit)
}

/** Counts the bits that are set (Hacker's Delight, 5-1). */
export function countBits(bits: Bits): number {
  let count = 0
  for (const word of bits) {
    let n = word - ((word >>> 1) & 0x55555555)
    n = (n & 0x33333333) + ((n >>> 2) & 0x33333333)
    count += Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return count
}
