/** Bits of a hash; there cannot be more buckets than hashes. */
export const HASH_BITS = 16

/** Returns the FNV-1a hash over UTF-16 code units, mixed once more to improve its upper bits. */
export function hashOf(term: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < term.length; at++) hash = Math.imul(hash ^ term.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> HASH_BITS
}
