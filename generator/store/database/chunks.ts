/** Most values of one statement; SQLite takes 32,766. */
const CHUNK = 500

/** A list in parts that one statement can take. */
export function* inChunks<T>(list: readonly T[]): Iterable<T[]> {
  for (let start = 0; start < list.length; start += CHUNK) yield list.slice(start, start + CHUNK)
}
