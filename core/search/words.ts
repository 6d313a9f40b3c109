import { canonicalName, isName } from '../name-rules.ts'

/** Maximum length of a word; longer words find nothing. */
export const WORD_MAX = 64

const WORDS_MAX = 8

const QUERY_MAX = 500

/** Words that say nothing in a description; a query needs them only if it has no others. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  'a an and are as at be by for from in is it its of on or that the this to with'.split(' '),
)

/** Returns the words of a text: lowercase runs of letters and digits, without accents. */
export function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
  return plain.match(/[\p{L}\p{N}]+/gu) ?? []
}

export interface Query {
  readonly words: readonly string[]
  /** If the query has several words, the canonical name that they make together. */
  readonly key: string | null
}

/** Parses a query; `+` separates words, as in Cargo's requests. */
export function parseQuery(text: string): Query {
  const query = text.slice(0, QUERY_MAX).replaceAll('+', ' ').trim()
  const all = wordsOf(query)
  const key = all.length < 2 ? null : isName(query) ? canonicalName(query) : all.join('_')
  const telling = all.filter(word => !STOP_WORDS.has(word))
  const words = [...new Set(telling.length > 0 ? telling : all)]
  return { words: words.slice(0, WORDS_MAX), key }
}
