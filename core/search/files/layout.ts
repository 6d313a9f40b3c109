import type { Sort } from '../../paths/search.ts'

/** Raise it when the same crates get different search files, or words are found differently. */
export const SEARCH_FORMAT = 4

/** How the files of a search are laid out; changes when the registry has grown fourfold. */
export interface SearchLayout {
  readonly format: number
  /** The terms of a shard are spread over 2^bits buckets. */
  readonly bits: number
  /** The number of shards. */
  readonly shards: number
}

/** A part of a list. */
export interface Slice {
  readonly limit: number
  readonly offset: number
}

/** The orders besides relevance. */
export type OtherSort = Exclude<Sort, 'relevance'>

/**
 * Crates with adjacent ids make a shard, whose files are a complete search of them, so that neither
 * files nor changes grow with the registry.
 */
export const SHARD_CRATES = 65_536

/** Number of crates in a block, whose results are in one file. */
export const BLOCK_CRATES = 5

/** Bits of a hash; a shard has at most 2^`HASH_BITS` buckets. */
export const HASH_BITS = 12

/** The average number of crates for each bucket. */
const BUCKET_CRATES = 8

/** Returns the bits for a number of crates, in steps of two, so that they rarely change. */
export function bitsFor(crates: number): number {
  let bits = 0
  while (bits < HASH_BITS && crates > BUCKET_CRATES * 2 ** bits) bits += 2
  return bits
}

/** Returns the layout for a number of crates and their highest id, `last`. */
export function layoutFor(crates: number, last: number): SearchLayout {
  return { format: SEARCH_FORMAT, bits: bitsFor(crates), shards: shardOf(last) + 1 }
}

/** Returns the shard of a crate. */
export function shardOf(id: number): number {
  return Math.floor(id / SHARD_CRATES)
}

/** Returns the block of a crate. */
export function blockOf(id: number): number {
  return Math.floor(id / BLOCK_CRATES)
}

/** Returns the bucket of a hash. */
export function bucketOf(hash: number, bits: number): number {
  return hash >>> (HASH_BITS - bits)
}

/**
 * Returns the hash that tells a term's bucket. Only its first three letters count, so that words
 * with the same beginning or stem are in one file. Filters are separate: `license:` and three
 * letters, and all of `rust:` together.
 */
export function placeOf(term: string): number {
  const at = term.indexOf(':') + 1
  return hashOf(term.startsWith(RUST) ? RUST : term.slice(0, at + 3))
}

/** Prefix of terms for minor versions of Rust. */
export const RUST = 'rust:'

/** Returns the hash under which words are listed that begin and end with the same letters. */
export function shapeOf(word: string): number {
  return hashOf(`shape ${word.charAt(0)}${word.slice(-1)}`)
}

/** Returns the FNV-1a hash over UTF-16 code units, mixed once more to improve its upper bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> (32 - HASH_BITS)
}
