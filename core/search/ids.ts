import { compareText } from '../entry/entry.ts'
import type { CanonicalName } from '../name-rules.ts'
import { wholeHashOf } from './layout.ts'

/**
 * Returns ids of crates that depend on nothing but all their names: places in a table that is at
 * most half full, each the first free one from that of its hash on. A crate that comes or goes
 * moves only those right behind it, unless the table grows or shrinks, as it rarely does.
 */
export function idsOf(names: Iterable<CanonicalName>): Map<CanonicalName, number> {
  const hashed = Array.from(names, name => ({ name, hash: wholeHashOf(name) }))
  hashed.sort((a, b) => a.hash - b.hash || compareText(a.name, b.name))
  let size = 16
  while (size < 2 * hashed.length) size *= 2
  let last = 0
  return new Map(
    hashed.map(({ name, hash }) => {
      last = Math.max(last, Math.floor((hash / 2 ** 32) * size)) + 1
      return [name, last]
    }),
  )
}
