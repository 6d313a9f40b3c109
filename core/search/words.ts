import { canonicalName, isName } from '../name-rules.ts'

/** Longest word that is searched for; longer ones find nothing. */
export const WORD_MAX = 64

/** Most words of a query that count; each costs a look-up. */
const WORDS_MAX = 32

/** Ranks from this on belong to crates whose every version is yanked. */
export const RANK_YANKED = 1024

/** Number of ranks per fit. */
export const RANK_FIT = 128

/** The words of a text: lowercase runs of letters and digits, without accents. */
export function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
  return plain.match(/[\p{L}\p{N}]+/gu) ?? []
}

/** The length of a crate's name, from its rank for any term. */
export function nameLength(rank: number): number {
  return rank % RANK_FIT
}

/** A parsed query. */
export interface Query {
  readonly words: readonly string[]
  /** The start of the canonical names that begin with the query, if it has several words. */
  readonly key: string | null
}

/** Parses a query; `+` separates words, as Cargo sends them. */
export function parseQuery(text: string): Query {
  const query = text.replaceAll('+', ' ').trim()
  const said = wordsOf(query)
  const key = said.length < 2 ? null : isName(query) ? canonicalName(query) : said.join('_')
  return { words: [...new Set(said)].slice(0, WORDS_MAX), key }
}

/**
 * The term of every crate whose name begins with `key`, which has several words: all of it up to
 * the first character of its last word. Only terms from names contain underscores.
 */
export function beginningOf(key: string): string {
  const end = key.replace(/_+$/, '').lastIndexOf('_')
  return key.slice(0, end + 2)
}
