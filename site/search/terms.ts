/** Longest word that is searched for; longer ones find nothing. */
export const WORD_MAX = 64

/** Most different words of a description that find its crate. */
const DESCRIPTION_WORDS = 200

/** Words of a query beyond this many do not count: nobody means them, and each costs a look-up. */
const WORDS_MAX = 32

/**
 * How well a word fits a crate, best first: the crate's name begins with it, it is a word of the name, a word of the name
 * begins with it, it is in the keywords, it is in the description.
 */
export const Fit = { begins: 0, name: 1, part: 2, keyword: 3, description: 4 } as const

/** What is searched of a crate. */
export interface Searched {
  readonly canonical: string
  readonly keywords: readonly string[]
  readonly description: string | null
  readonly yanked: boolean
}

/** The form in which two names are the same: lowercase, `-` as `_`. */
export function canonical(name: string): string {
  return name.toLowerCase().replaceAll('-', '_')
}

/** The words of a text: runs of letters and digits in lower case, without accents, compatibility forms made one. */
export function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
  return plain.match(/[\p{L}\p{N}]+/gu) ?? []
}

/** Every term that finds a crate, with the rank at which it does; see `rankOf`. Terms are words, and what `beginningOf` gives. */
export function termsOf(crate: Searched): Map<string, number> {
  const fits = new Map<string, number>()
  const put = (word: string, fit: number) => {
    if (word.length <= WORD_MAX && fit < (fits.get(word) ?? Number.POSITIVE_INFINITY)) fits.set(word, fit)
  }
  for (const [at, word] of crate.canonical.split('_').entries()) {
    for (let end = 1; end <= word.length; end++) {
      const isWhole = end === word.length
      put(word.slice(0, end), at === 0 ? Fit.begins : isWhole ? Fit.name : Fit.part)
    }
  }
  for (let at = crate.canonical.indexOf('_'); at >= 0; at = crate.canonical.indexOf('_', at + 1)) {
    if (at + 1 < crate.canonical.length) put(crate.canonical.slice(0, at + 2), Fit.begins)
  }
  for (const word of wordsOf(crate.keywords.join(' '))) put(word, Fit.keyword)
  const described = [...new Set(wordsOf(crate.description ?? ''))].slice(0, DESCRIPTION_WORDS)
  for (const word of described) put(word, Fit.description)
  return new Map([...fits].map(([word, fit]) => [word, rankOf(crate, fit)]))
}

/** Half of the classes are of crates whose every version is yanked. */
export const CLASSES = 16
export const YANKED_FROM = 8

/** Which rank belongs to which class: yanked or not, and the fit. Within a class the shorter name comes first. */
export function classOf(rank: number): number {
  return Math.floor(rank / RANK_FIT)
}

/** Ranks from this on belong to crates whose every version is yanked. */
export const RANK_YANKED = 1024
const RANK_FIT = 128

/**
 * The place of a crate in the results of a word: unyanked ones first, then the better fit, then the shorter name, which
 * puts the exact name before those that only begin with it. For two words, the higher rank is that of both together.
 */
export function rankOf(crate: Pick<Searched, 'canonical' | 'yanked'>, fit: number): number {
  return Number(crate.yanked) * RANK_YANKED + fit * RANK_FIT + crate.canonical.length
}

/** How long the name of a crate is, from its rank for any term. */
export function nameLength(rank: number): number {
  return rank % RANK_FIT
}

/** A query, taken apart. */
export interface Query {
  readonly words: readonly string[]
  /** What names that begin with the query begin with, when it is more than one word. */
  readonly key: string | null
}

/** Takes a query apart; `+` separates words, as Cargo writes them. */
export function parseQuery(text: string): Query {
  const query = text.replaceAll('+', ' ').trim()
  const said = wordsOf(query)
  const isName = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(query)
  const key = said.length < 2 ? null : isName ? canonical(query) : said.join('_')
  return { words: [...new Set(said)].slice(0, WORDS_MAX), key }
}

/**
 * The term of every crate whose name begins with `key`, which has more than one word: all of it up to the first character
 * of its last word. Names alone have an underscore in a term.
 */
export function beginningOf(key: string): string {
  const end = key.replace(/_+$/, '').lastIndexOf('_')
  return key.slice(0, end + 2)
}
