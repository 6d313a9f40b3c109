import { HASH_BITS } from './buckets.ts'

/** A term that finds more crates is common: its bucket tells so many of them, the rest is in files by ranges of ids. */
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
  /** How many they are, `postings` or more. */
  readonly crates: number
  /** By rank and id, the first of them. */
  readonly postings: readonly Posting[]
  /** The ranges that its crates are in, when `postings` has not all of them. */
  readonly ranges: readonly number[]
}

/** How many bits so many terms need; in steps of two, so that a growing registry is seldom spread anew. */
export function bitsFor(terms: number): number {
  let bits = 0
  while (bits < HASH_BITS && terms > TERMS_MAX * 2 ** bits) bits += 2
  return bits
}
