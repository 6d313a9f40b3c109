import { HASH_BITS } from './buckets.ts'

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
