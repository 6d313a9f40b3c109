import { HASH_BITS } from './hash.ts'
import type { Key, ListedWord } from './vocabulary.ts'

/** The file that the browser loads first; its size does not depend on the number of crates. */
export interface SearchLayout {
  readonly format: number
  /** The terms are spread over 2^bits buckets. */
  readonly bits: number
  readonly crates: number
  /** The highest id of a crate. */
  readonly last: number
}

/**
 * A term in a file: the term, the number of crates it matches, and their ids by rank. Each list is
 * a rank, the lowest id with that rank, and the differences to the next ids. For a common term, a
 * bucket has only the first crates, and instead of the number a list: the number, then each of its
 * shelves with the number of crates there.
 */
export type PackedTerm = readonly [
  term: string,
  crates: number | readonly number[],
  ...ranks: readonly (readonly number[])[],
]

/**
 * The words that are listed under a key: `{key} {hash}`, then each grade, highest first, followed
 * by its words.
 */
export type PackedWords = readonly [key: string, ...words: readonly (number | string)[]]

/** A crate in a block. */
export type PackedCrate = readonly [
  id: number,
  name: string,
  version: string,
  description: string,
  yanked: 0 | 1,
  updatedAt: string | null,
  dependents: number,
  /** The minor version of the Rust that it needs; null if unknown. */
  rust: number | null,
  ...owners: readonly string[],
]

/** Number of crates in one block. */
export const SEARCH_BLOCK_CRATES = 8

/** Returns the bucket of a hash. */
export function bucketOf(hash: number, bits: number): number {
  return hash >>> (HASH_BITS - bits)
}

/** Returns the block of a crate. */
export function blockOf(id: number): number {
  return Math.floor(id / SEARCH_BLOCK_CRATES)
}

/** Maximum crates of a term in its bucket; a term with more is common: it has shelves. */
export const POSTINGS_MAX = 4096

/** Number of crates of a common term in its bucket: the first ones. */
export const POSTINGS_FIRST = 1024

/**
 * Maximum average number of terms in a bucket; lower if there are many, because then each of them
 * has many crates, too.
 */
const TERMS_MAX = 128
const MANY_TERMS_MAX = 32
const MANY_BITS = 8

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
  /** Its shelves with the number of crates of each, if `postings` does not have all of them. */
  readonly shelves: readonly (readonly [shelf: number, crates: number])[]
}

/** The words of one key, in the order of `byGrade`. */
export interface WordList {
  readonly key: Key
  readonly hash: number
  readonly words: readonly ListedWord[]
}

/** Returns the bits for a number of terms, in steps of two, so that they rarely change. */
export function bitsFor(terms: number): number {
  let bits = 0
  const most = () => (bits < MANY_BITS ? TERMS_MAX : MANY_TERMS_MAX) * 2 ** bits
  while (bits < HASH_BITS && terms > most()) bits += 2
  return bits
}
