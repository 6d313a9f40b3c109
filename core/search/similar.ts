/**
 * What is left of an English word without its ending, so that `serializer`, `serialization` and
 * `serialisation` are one. Only compared, never stored or shown.
 */
const VERBS = 'i[sz](?:ations?|ing|e[drs]?s?)|at(?:ions?|ing|ors?|e[ds]?)'
const ENDINGS = `${VERBS}|i(?:ng|on)s?|[eo]rs?|ness|ly|ies|e[ds]|[ey]|(?<!s)s`
const STEM = new RegExp(`^(.{3,}?)(?:${ENDINGS})?$`)

/** Returns the stem of an English word; other words stay as they are, more or less. */
export function stemOf(word: string): string {
  const stem = STEM.exec(word.replace('our', 'or'))?.[1] ?? word
  // As in `logging`, `logger` and `log`.
  return stem.length > 3 ? stem.replace(/([^aeiouls])\1$/, '$1') : stem
}

/** Returns how many typos a word of this length may have. */
export function typosIn({ length }: string): number {
  return length < 4 ? 0 : length < 8 ? 1 : 2
}

/**
 * Returns how many typos lie between two words: a letter added, left out, replaced, or swapped with
 * the next one (optimal string alignment). More than `most` is not measured: `most + 1`.
 */
export function typosBetween(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1
  let [before, last]: [number[], number[]] = [[], Array.from(` ${other}`, (_, at) => at)]
  for (let at = 1; at <= one.length; at++) {
    const row = [at]
    for (let to = 1; to <= other.length; to++) {
      const isSame = one[at - 1] === other[to - 1]
      const isSwap = at > 1 && one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1]
      const cost = Math.min(
        (last[to] ?? 0) + 1,
        (row[to - 1] ?? 0) + 1,
        (last[to - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (before[to - 2] ?? 0) + 1 : most + 1,
      )
      row.push(cost)
    }
    if (Math.min(...row) > most) return most + 1
    before = last
    last = row
  }
  return Math.min(last[other.length] ?? 0, most + 1)
}
