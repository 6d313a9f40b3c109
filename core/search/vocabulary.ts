import { stemOf, typosBetween, typosIn } from './similar.ts'

/** Lengths of the words that a search may find instead of a similar one. */
const [LISTED_FROM, LISTED_TO] = [3, 32]

/** Maximum number of words in a list of one shape; the most frequent are kept. */
export const LISTED_MAX = 500

export interface ListedWord {
  readonly word: string
  /** The number of bits in the number of crates with this word; rarely changes, as files must. */
  readonly grade: number
}

/** Whether lists contain a term. */
export function isListed(term: string): boolean {
  return term.length >= LISTED_FROM && term.length <= LISTED_TO && WORD.test(term)
}

/** Names of several words and filters are no words; numbers are like too many others. */
const WORD = /^(?!\d*$)[^_:]+$/

/** Returns the grade of a word, by its number of crates. */
export function gradeOf(crates: number): number {
  return 32 - Math.clz32(crates)
}

/** Sorts words for lists: the most frequent first. */
export function byGrade(a: ListedWord, b: ListedWord): number {
  return b.grade - a.grade || (a.word < b.word ? -1 : 1)
}

/**
 * Returns the words that begin with a word, or differ from it only by an English ending; the most
 * frequent first.
 */
export function nearWords(word: string, listed: readonly ListedWord[]): ListedWord[] {
  const stem = stemOf(word)
  // Looked at first, because stems take longer.
  const mayHave = (other: string) => other.startsWith(stem) || other.includes('our')
  const isNear = (other: string) =>
    other.startsWith(word) || (mayHave(other) && stemOf(other) === stem)
  return listed.filter(item => item.word !== word && isNear(item.word)).sort(byGrade)
}

/** Returns the words with the fewest typos between them and a word; the most frequent first. */
export function likelyWords(word: string, listed: readonly ListedWord[]): ListedWord[] {
  let most = typosIn(word)
  if (most === 0) return []
  let likely = new Map<string, ListedWord>()
  for (const item of listed) {
    const typos = typosBetween(word, item.word, most)
    if (typos === 0 || typos > most) continue
    if (typos < most) likely = new Map()
    most = typos
    likely.set(item.word, item)
  }
  return [...likely.values()].sort(byGrade)
}
