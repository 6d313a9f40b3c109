import { RANK_FIT, RANK_YANKED, WORD_MAX, wordsOf } from './words.ts'

/** Maximum number of words of a description that are searched. */
const DESCRIPTION_WORDS = 200

/**
 * How well a word matches a crate, best first: the name begins with it, the name contains it, a
 * word of the name begins with it, it is a keyword, the description contains it.
 */
export const Fit = { begins: 0, name: 1, part: 2, keyword: 3, description: 4 } as const

/** The searchable parts of a crate. */
export interface Searched {
  readonly canonical: string
  readonly keywords: readonly string[]
  readonly description: string | null
  readonly yanked: boolean
}

/** Returns every term that a crate matches, with its rank: words, and results of `beginningOf`. */
export function termsOf(crate: Searched): Map<string, number> {
  const fits = new Map<string, number>()
  const put = (word: string, fit: number) => {
    if (word.length <= WORD_MAX && fit < (fits.get(word) ?? Number.POSITIVE_INFINITY))
      fits.set(word, fit)
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

/** Number of classes; the upper half is for crates whose versions are all yanked. */
export const CLASSES = 16
export const YANKED_FROM = 8

/** Returns the class of a rank: yanked or not, and the fit. Within one, shorter names come first. */
export function classOf(rank: number): number {
  return Math.floor(rank / RANK_FIT)
}

/**
 * Returns the rank of a crate for a word: unyanked first, then the better fit, then the shorter
 * name, which puts an exact name first. For several words, the highest rank counts.
 */
export function rankOf(crate: Pick<Searched, 'canonical' | 'yanked'>, fit: number): number {
  return Number(crate.yanked) * RANK_YANKED + fit * RANK_FIT + crate.canonical.length
}
