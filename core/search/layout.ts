/** Raise it when the same crates get different search files, or words are found differently. */
export const SEARCH_FORMAT = 9

/** How the files of a search are laid out; changes when the registry grows or shrinks fourfold. */
export interface SearchLayout {
  readonly format: number
  /** The terms are spread over 2^bits buckets. */
  readonly bits: number
}

export interface Slice {
  readonly limit: number
  readonly offset: number
}

/** Number of crates in a block, whose results are in one file. */
export const BLOCK_CRATES = 4

/** Bits of a hash; there are at most 2^`HASH_BITS` buckets. */
export const HASH_BITS = 12

const BUCKET_CRATES = 8

/** Returns the layout for a number of crates; bits grow in steps of two, so that they rarely do. */
export function layoutFor(crates: number): SearchLayout {
  let bits = 0
  while (bits < HASH_BITS && crates > BUCKET_CRATES * 2 ** bits) bits += 2
  return { format: SEARCH_FORMAT, bits }
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
 * Returns the hash that tells a term's bucket. Only its first three letters count, after `license:`
 * and other filters, so that words with the same beginning or stem are in one file.
 */
export function hashOfStart(term: string): number {
  return hashOf(term.slice(0, term.indexOf(':') + 4))
}

/** Returns the hash under which words are listed that begin and end with the same letters. */
export function shapeOf(word: string): number {
  return hashOf(`shape ${word.charAt(0)}${word.slice(-1)}`)
}

function hashOf(text: string): number {
  return wholeHashOf(text) >>> (32 - HASH_BITS)
}

/** Returns the FNV-1a hash over UTF-16 code units, in 32 bits, the upper ones mixed once more. */
export function wholeHashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}
