import { compareText } from '../entry/entry.ts'
import type { CanonicalName } from '../name-rules.ts'
import { wholeHashOf } from './layout.ts'

/**
 * Returns ids of crates that depend on nothing but all their names: places in a table that is at
 * most half full, each the first free one from that of its hash on. Names choose in an order of
 * their own, so a crate that comes or goes moves few others, and most move none, unless the table
 * grows or shrinks, as it rarely does.
 */
export function idsOf(names: Iterable<CanonicalName>): Map<CanonicalName, number> {
  const hashed = Array.from(names, name => ({ name, hash: wholeHashOf(name) }))
  // By the bits that say nothing of the place: in the order of places, all behind one would move.
  const turn = (hash: number) => hash % 2 ** 16
  hashed.sort(
    (a, b) => turn(a.hash) - turn(b.hash) || a.hash - b.hash || compareText(a.name, b.name),
  )
  let size = 16
  while (size < 2 * hashed.length) size *= 2
  const taken = new Set<number>()
  return new Map(
    hashed.map(({ name, hash }) => {
      let id = Math.floor((hash / 2 ** 32) * size) + 1
      while (taken.has(id)) id++
      taken.add(id)
      return [name, id]
    }),
  )
}
