/** What the browser loads first. Its length does not depend on how many crates there are. */
export interface SearchLayout {
  readonly format: number
  /** The terms are spread over two to the power of this many files. */
  readonly bits: number
  readonly crates: number
}

/**
 * What a file has of a term: the term, how many crates it finds, and these by rank: each list is a rank, the lowest id of a
 * crate that has it, and the steps to the next ids. A bucket has of a very common term only the first in order; in place of
 * the number it has a list: the number, and the ranges of ids that the others are in.
 */
export type PackedTerm = readonly [
  term: string,
  crates: number | readonly number[],
  ...ranks: readonly (readonly number[])[],
]

/** What a block has of a crate. */
export type PackedCrate = readonly [
  id: number,
  name: string,
  version: string,
  description: string,
  yanked: 0 | 1,
]

/** Hashes have this many bits; there are never more buckets than hashes. */
export const HASH_BITS = 16

/** Ids in one range. */
export const RANGE_CRATES = 32_768

/** Crates in one block. */
export const SEARCH_BLOCK_CRATES = 16

/** FNV-1a over UTF-16 code units, mixed once more so that its upper bits are as good as any. */
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
