/** A part of a sorted list: the items whose keys begin with `prefix`. */
export interface PrefixGroup {
  readonly prefix: string
  /** Where the part starts in the list, and how many items it has. */
  readonly from: number
  readonly total: number
  /** How many of them, the first, have `prefix` itself as their key. */
  readonly own: number
  /** Characters that make, after `prefix`, the prefixes of smaller parts; empty when the part is small enough. */
  readonly next: readonly string[]
}

/**
 * Splits sorted keys at ever longer prefixes until no part has more than `limit` of them.
 * A new key changes only the parts that it begins with, so a large list is kept up to date cheaply.
 */
export function groupByPrefix(keys: readonly string[], limit: number): PrefixGroup[] {
  const list: PrefixGroup[] = []
  const split = (prefix: string, from: number, to: number): void => {
    let at = from
    while (at < to && keys[at] === prefix) at++
    const next: string[] = []
    list.push({ prefix, from, total: to - from, own: at - from, next })
    if (to - from <= limit) return
    while (at < to) {
      const character = characterAt(keys[at] ?? '', prefix.length)
      const start = at
      while (at < to && keys[at]?.startsWith(character, prefix.length)) at++
      next.push(character)
      split(prefix + character, start, at)
    }
  }
  split('', 0, keys.length)
  return list
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0)
}
