import type { Place } from '../../../core/paths/tree.ts'

/**
 * Returns the headers with which a bucket gives a file of the public tree to readers. What changes
 * may be `seconds` old in a cache; with 0, caches ask each time.
 */
export function headersOf(
  { contentType, cache }: Place,
  seconds: number,
): Readonly<Record<string, string>> {
  const short = seconds === 0 ? 'no-cache' : `public, max-age=${seconds}`
  return {
    'content-type': contentType,
    'cache-control': cache === 'immutable' ? 'public, max-age=31536000, immutable' : short,
  }
}
