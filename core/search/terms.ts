import type { Filter } from '../paths/search.ts'
import { isStorable } from '../text.ts'
import { isStopWord, WORD_MAX, wordsOf } from './words.ts'

const DESCRIPTION_WORDS = 200

const FILTERED = 20

/**
 * How well a word matches a crate, best first: it is the name, it is a word of the name, the name
 * begins with it, another word of the name does, it is a keyword, the description contains it.
 * `similarFit` gives the same for a word similar to that of the query. Files tell the first word of
 * a name from `later` ones.
 */
export const Fit = {
  exact: 0,
  name: 1,
  begins: 2,
  part: 3,
  keyword: 4,
  description: 5,
  later: 6,
} as const

/** How a crate's word relates to the query's: the same, or longer or inflected. */
export type Likeness = 'same' | 'near'

/** Returns the fit of a crate that has a word with `fit`, where the query has one like it. */
export function similarFit(fit: number, likeness: Likeness): number {
  return likeness === 'same' ? fit : fit < Fit.description ? 6 : 7
}

/** Returns a fit of a file as searches compare it. */
export function plainFit(fit: number): number {
  return fit === Fit.later ? Fit.name : fit
}

/** Returns the fit of a crate for the beginning of a word that it has; null if it has none. */
export function beginningFit(fit: number): number | null {
  if (fit === Fit.exact || fit === Fit.name) return Fit.begins
  return fit === Fit.later ? Fit.part : null
}

/** Beginnings of words of names up to this length are terms; longer ones are found in words. */
export const SHORT = 2

/** Returns the terms of crates with a label, an owner, or each license of an expression. */
export function filterTerms(filter: Exclude<Filter, 'rust'>, value: string): string[] {
  const values = filter === 'license' ? value.split(/\s+(?:or|and|with)\s+|[()/,\s]+/i) : [value]
  const known = values.filter(Boolean).map(value => `${filter}:${value.trim().toLowerCase()}`)
  return [...new Set(known)]
}

export interface SearchableCrate {
  readonly canonical: string
  readonly keywords: readonly string[]
  readonly description: string | null
  readonly categories?: readonly string[]
  readonly license?: string | null
  /** The usernames of its owners, if pages name them. */
  readonly owners?: readonly string[]
}

/** Returns the terms by which a crate is found, with their fits: words, its name, and filters. */
export function termsOf(crate: SearchableCrate): ReadonlyMap<string, number> {
  const fits = new Map<string, number>()
  const put = (term: string, fit: number) => {
    const isBetter = plainFit(fit) < plainFit(fits.get(term) ?? Number.POSITIVE_INFINITY)
    if (isBetter && term.length <= WORD_MAX && isStorable(term)) fits.set(term, fit)
  }
  for (const [at, word] of crate.canonical.split('_').entries()) {
    for (let end = 1; end < word.length && end <= SHORT; end++)
      put(word.slice(0, end), at === 0 ? Fit.begins : Fit.part)
    if (word !== '') put(word, at === 0 ? Fit.name : Fit.later)
  }
  put(crate.canonical, Fit.exact)
  for (const word of wordsOf(crate.keywords.join(' '))) put(word, Fit.keyword)
  const described = wordsOf(crate.description ?? '').filter(word => !isStopWord(word))
  for (const word of [...new Set(described)].slice(0, DESCRIPTION_WORDS)) put(word, Fit.description)
  for (const term of allFilterTerms(crate)) put(term, Fit.exact)
  return fits
}

/** A crate is also in its categories' parents. */
function allFilterTerms(crate: SearchableCrate): string[] {
  const { keywords, categories = [], license, owners = [] } = crate
  const terms = (filter: Exclude<Filter, 'rust'>, values: readonly string[]) =>
    values.flatMap(value => filterTerms(filter, value)).slice(0, FILTERED)
  const above = categories.flatMap(category =>
    category.split('::').map((_, at, parts) => parts.slice(0, at + 1).join('::')),
  )
  return [
    ...terms('keyword', keywords),
    ...terms('category', above),
    ...terms('license', [license ?? '']),
    ...terms('owner', owners),
  ]
}
