/** A part of a sorted list: the items whose keys begin with `prefix`. */
export interface PrefixGroup {
  readonly prefix: string
  /** Where the group starts in the list, and how many items it has. */
  readonly from: number
  readonly total: number
  /** How many of its items, the first ones, have `prefix` itself as their key. */
  readonly own: number
  /** Characters that extend `prefix` to the prefixes of smaller groups; none in a small group. */
  readonly next: readonly string[]
}

/**
 * Splits sorted keys at ever longer prefixes until no undivided group has more than `limit` items.
 * A new key changes only the groups whose prefix it has, so a large list is cheap to update.
 */
export function groupByPrefix(keys: readonly string[], limit: number): PrefixGroup[] {
  const groups: PrefixGroup[] = []
  const split = (prefix: string, from: number, to: number): void => {
    let at = from
    while (at < to && keys[at] === prefix) at++
    const next: string[] = []
    groups.push({ prefix, from, total: to - from, own: at - from, next })
    if (to - from <= limit) return
    while (at < to) {
      const character = String.fromCodePoint(keys[at]?.codePointAt(prefix.length) ?? 0)
      const start = at
      while (at < to && keys[at]?.startsWith(character, prefix.length)) at++
      next.push(character)
      split(prefix + character, start, at)
    }
  }
  split('', 0, keys.length)
  return groups
}
