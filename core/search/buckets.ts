/** The file that the browser loads first; its length does not depend on the number of crates. */
export interface SearchLayout {
  readonly format: number
  /** The terms are in 2^bits buckets. */
  readonly bits: number
  readonly crates: number
}

/**
 * A term in a file: the term, the number of crates it finds, and their ids by rank. Each list is a
 * rank, the lowest id with it, and the steps to the next ids. For a common term, a bucket has only
 * the first crates; instead of the number it has a list: the number, then the id ranges of the
 * others.
 */
export type PackedTerm = readonly [
  term: string,
  crates: number | readonly number[],
  ...ranks: readonly (readonly number[])[],
]

/** A crate in a block. */
export type PackedCrate = readonly [
  id: number,
  name: string,
  version: string,
  description: string,
  yanked: 0 | 1,
]

/** Bits of a hash; there are at most as many buckets as hashes. */
export const HASH_BITS = 16

/** Ids in one range. */
export const RANGE_CRATES = 32_768

/** Crates in one block. */
export const SEARCH_BLOCK_CRATES = 16

/** FNV-1a over UTF-16 code units, mixed once more to improve its upper bits. */
export function hashOf(term: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < term.length; at++) hash = Math.imul(hash ^ term.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> HASH_BITS
}

/** The bucket of a hash. */
export function bucketOf(hash: number, bits: number): number {
  return hash >>> (HASH_BITS - bits)
}

/** The block of a crate. */
export function blockOf(id: number): number {
  return Math.floor(id / SEARCH_BLOCK_CRATES)
}

/** The range of a crate. */
export function rangeOf(id: number): number {
  return Math.floor(id / RANGE_CRATES)
}

/** Most crates of a term in its bucket; those of a common term continue in files by id range. */
export const POSTINGS_MAX = 4096

/** Terms in a bucket, on average, at most. */
const TERMS_MAX = 128

/** A crate that a term finds. */
export interface Posting {
  readonly rank: number
  readonly id: number
}

/** A term with the crates that it finds. */
export interface Term {
  readonly term: string
  /** The number of crates, `postings` or more. */
  readonly crates: number
  /** By rank and id, the first of them. */
  readonly postings: readonly Posting[]
  /** The id ranges of its crates, when `postings` does not have all. */
  readonly ranges: readonly number[]
}

/** The bits for a number of terms; in steps of two, so that they rarely change. */
export function bitsFor(terms: number): number {
  let bits = 0
  while (bits < HASH_BITS && terms > TERMS_MAX * 2 ** bits) bits += 2
  return bits
}
