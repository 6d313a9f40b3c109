/** The file that the browser loads first; its size does not depend on the number of crates. */
export interface SearchLayout {
  readonly format: number
  /** The terms are spread over 2^bits buckets. */
  readonly bits: number
  readonly crates: number
}

/**
 * A term in a file: the term, the number of crates it matches, and their ids by rank. Each list is
 * a rank, the lowest id with that rank, and the differences to the next ids. For a common term, a
 * bucket has only the first crates, and instead of the number a list: the number, then the id
 * ranges of the other crates.
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

/** Bits of a hash; there cannot be more buckets than hashes. */
export const HASH_BITS = 16

/** Number of ids in one range. */
export const RANGE_CRATES = 32_768

/** Number of crates in one block. */
export const SEARCH_BLOCK_CRATES = 16

/** Returns the FNV-1a hash over UTF-16 code units, mixed once more to improve its upper bits. */
export function hashOf(term: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < term.length; at++) hash = Math.imul(hash ^ term.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> HASH_BITS
}

/** Returns the bucket of a hash. */
export function bucketOf(hash: number, bits: number): number {
  return hash >>> (HASH_BITS - bits)
}

/** Returns the block of a crate. */
export function blockOf(id: number): number {
  return Math.floor(id / SEARCH_BLOCK_CRATES)
}

/** Returns the range of a crate. */
export function rangeOf(id: number): number {
  return Math.floor(id / RANGE_CRATES)
}

/** Maximum crates of a term in its bucket; a common term has the others in files by id range. */
export const POSTINGS_MAX = 4096

/** Maximum average number of terms in a bucket. */
const TERMS_MAX = 128

/** A crate that matches a term. */
export interface Posting {
  readonly rank: number
  readonly id: number
}

/** A term with the crates that match it. */
export interface Term {
  readonly term: string
  /** Total number of crates; may be more than `postings` has. */
  readonly crates: number
  /** The first crates, ordered by rank and id. */
  readonly postings: readonly Posting[]
  /** The id ranges of its crates, if `postings` does not have all of them. */
  readonly ranges: readonly number[]
}

/** Returns the bits for a number of terms, in steps of two, so that they rarely change. */
export function bitsFor(terms: number): number {
  let bits = 0
  while (bits < HASH_BITS && terms > TERMS_MAX * 2 ** bits) bits += 2
  return bits
}
