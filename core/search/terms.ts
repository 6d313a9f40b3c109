import { isStorable } from '../text.ts'
import { scoreOf } from './score.ts'
import { isListed } from './vocabulary.ts'
import { isStopWord, RANK_FIT, RANK_YANKED, WORD_MAX, wordsOf } from './words.ts'

/** Maximum number of words of a description that are searched. */
const DESCRIPTION_WORDS = 200

/** Maximum number of keywords, of categories and of licenses by which a crate is filtered. */
const FILTERED = 20

/** The fit of a word of the description; on its own, so that scripts do without the others. */
const DESCRIPTION = 5

/**
 * How well a word matches a crate, best first: it is the name, it is a word of the name, the name
 * begins with it, another word of the name does, it is a keyword, the description contains it. Then
 * the same for a word that is like the one in the query: `similarFit`.
 */
export const Fit = {
  exact: 0,
  name: 1,
  begins: 2,
  part: 3,
  keyword: 4,
  description: DESCRIPTION,
} as const

/** How a word of a crate is like the one in the query: the same, or longer or inflected. */
export type Likeness = 'same' | 'near'

/** Returns the fit of a crate that has a word with `fit`, where the query has one like it. */
export function similarFit(fit: number, likeness: Likeness): number {
  return likeness === 'same' ? fit : fit < DESCRIPTION ? 6 : 7
}

/** Returns the rank of a crate that a word like the one in the query finds with a rank. */
export function similarRank(rank: number, likeness: Likeness): number {
  const fit = Math.floor((rank % RANK_YANKED) / RANK_FIT)
  return rank + (similarFit(fit, likeness) - fit) * RANK_FIT
}

/** The filters that are terms; their crates are in the postings. */
export const TERM_FILTERS = ['keyword', 'category', 'license'] as const
export type TermFilter = (typeof TERM_FILTERS)[number]

/** Returns the term of all crates with a keyword, a category or a license. */
export function filterTerm(filter: TermFilter, value: string): string {
  return `${filter}:${value.trim().toLowerCase()}`
}

/** The searchable parts of a crate. */
export interface Searched {
  readonly canonical: string
  readonly keywords: readonly string[]
  readonly description: string | null
  readonly categories?: readonly string[]
  readonly license?: string | null
  readonly yanked: boolean
  /** The step of its dependents (`stepOf`), 0 without it. */
  readonly step?: number
}

/** What a crate is found by. */
export interface Findable {
  /** The terms, with the rank of the crate: words, the name, results of `filterTerm`. */
  readonly ranks: ReadonlyMap<string, number>
  /** The whole words among them, which searches for similar words find. */
  readonly words: ReadonlySet<string>
}

/** Returns what a crate is found by. */
export function findableBy(crate: Searched): Findable {
  const fits = new Map<string, number>()
  const words = new Set<string>()
  const put = (term: string, fit: number) => {
    if (
      term.length <= WORD_MAX &&
      isStorable(term) &&
      fit < (fits.get(term) ?? Number.POSITIVE_INFINITY)
    )
      fits.set(term, fit)
  }
  const putWord = (word: string, fit: number) => {
    put(word, fit)
    if (isListed(word)) words.add(word)
  }
  for (const [at, word] of crate.canonical.split('_').entries()) {
    for (let end = 1; end < word.length; end++)
      put(word.slice(0, end), at === 0 ? Fit.begins : Fit.part)
    if (word !== '') putWord(word, Fit.name)
  }
  put(crate.canonical, Fit.exact)
  for (const word of wordsOf(crate.keywords.join(' '))) putWord(word, Fit.keyword)
  for (const word of describing(crate)) putWord(word, Fit.description)
  for (const term of filterTerms(crate)) put(term, 0)
  return { ranks: new Map([...fits].map(([term, fit]) => [term, rankOf(crate, fit)])), words }
}

/** Returns the searched words of a description, each once. */
function describing({ description }: Searched): string[] {
  const words = wordsOf(description ?? '').filter(word => !isStopWord(word))
  return [...new Set(words)].slice(0, DESCRIPTION_WORDS)
}

/** A crate is also in the categories above its own, and has each license of an expression. */
function filterTerms({ keywords, categories = [], license = null }: Searched): string[] {
  const terms = (filter: TermFilter, values: readonly string[]) =>
    values.slice(0, FILTERED).map(value => filterTerm(filter, value))
  const above = categories.flatMap(one =>
    one.split('::').map((_, at, parts) => parts.slice(0, at + 1).join('::')),
  )
  const licenses = (license ?? '')
    .split(/\s+(?:or|and|with)\s+|[()/,\s]+/i)
    .filter(one => one !== '')
  return [...terms('keyword', keywords), ...terms('category', above), ...terms('license', licenses)]
}

/** Number of classes; the upper half is for crates whose versions are all yanked. */
export const CLASSES = 16
export const YANKED_FROM = 8

/** Returns the class of a rank: yanked or not, and the fit. Within one, the score counts. */
export function classOf(rank: number): number {
  return Math.floor(rank / RANK_FIT)
}

/**
 * Returns the rank of a crate for a word: unyanked first, then the better fit, then the better
 * score: more dependents, then the shorter name. For several words, the highest rank counts.
 */
function rankOf({ canonical, yanked, step = 0 }: Searched, fit: number): number {
  return Number(yanked) * RANK_YANKED + fit * RANK_FIT + scoreOf(step, canonical.length)
}
