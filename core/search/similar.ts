/**
 * Endings of English words. Without them `serializer`, `serialization` and `serialisation` are the
 * same word. Stems are only compared, never stored or shown.
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
export function typosBetween(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  const width = b.length + 1
  // The rows of the usual matrix, one after the other.
  const costs = Array.from({ length: width }, (_, at) => at)
  const cost = (row: number, at: number) => costs[row * width + at] ?? most
  for (let row = 1; row <= a.length; row++) {
    let least = row
    costs.push(row)
    for (let at = 1; at < width; at++) {
      const isSwap = a[row - 1] === b[at - 2] && a[row - 2] === b[at - 1]
      const now = Math.min(
        cost(row - 1, at) + 1,
        cost(row, at - 1) + 1,
        cost(row - 1, at - 1) + Number(a[row - 1] !== b[at - 1]),
        isSwap ? cost(row - 2, at - 2) + 1 : most + 1,
      )
      costs.push(now)
      least = Math.min(least, now)
    }
    if (least > most) return most + 1
  }
  return Math.min(cost(a.length, b.length), most + 1)
}
