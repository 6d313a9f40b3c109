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

/**
 * Returns how many typos lie between two words: a letter added, left out, replaced, or swapped with
 * the next one (optimal string alignment). More than `most` is not measured: `most + 1`.
 */
export function typosBetween(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let same = 0
  while (same < a.length && a[same] === b[same]) same++
  const [x, y] = [a.slice(same), b.slice(same)]
  if (x === y) return 0
  if (most === 0) return 1
  const after = (left: number, right: number) =>
    1 + typosBetween(x.slice(left), y.slice(right), most - 1)
  const isSwap = x[0] === y[1] && x[1] === y[0]
  return Math.min(after(1, 0), after(0, 1), after(1, 1), isSwap ? after(2, 2) : most + 1)
}

export interface ListedWord {
  readonly word: string
  /** The number of bits in the number of crates with this word; rarely changes, as files must. */
  readonly grade: number
}

/** Whether lists contain a term: no names of several words and filters, nor numbers. */
export function isListed(term: string): boolean {
  return /^(?!\d*$)[^_:]{3,32}$/.test(term)
}

/** Returns the grade of a word, by its number of crates. */
export function gradeOf(crates: number): number {
  return 32 - Math.clz32(crates)
}

/** Compares words for lists: the most frequent first. */
export function byGrade(a: ListedWord, b: ListedWord): number {
  return b.grade - a.grade || (a.word < b.word ? -1 : 1)
}

/**
 * Returns words that begin with a word or share its English stem: its plural or singular first,
 * then the most frequent.
 */
export function nearWords(word: string, listed: readonly ListedWord[]): ListedWord[] {
  const stem = stemOf(word)
  // Looked at first, because stems take longer.
  const mayHave = (other: string) => other.startsWith(stem) || other.includes('our')
  const isNear = (other: string) =>
    other.startsWith(word) || (mayHave(other) && stemOf(other) === stem)
  const isNumber = (other: string) => Number(other === `${word}s` || word === `${other}s`)
  return listed
    .filter(item => item.word !== word && isNear(item.word))
    .sort((a, b) => isNumber(b.word) - isNumber(a.word) || byGrade(a, b))
}

/** Returns the words with the fewest typos between them and a word; the most frequent first. */
export function likelyWords(word: string, listed: readonly ListedWord[]): ListedWord[] {
  const most = word.length < 4 ? 0 : word.length < 8 ? 1 : 2
  const others = [...new Map(listed.map(item => [item.word, item])).values()]
  for (let typos = 1; typos <= most; typos++) {
    const likely = others.filter(other => typosBetween(word, other.word, typos) === typos)
    if (likely.length > 0) return likely.sort(byGrade)
  }
  return []
}
