import { isStorable } from '../text.ts'
import { FILTERS, rustMinor } from './request.ts'
import { STOP_WORDS, WORD_MAX, wordsOf } from './words.ts'

const DESCRIPTION_WORDS = 200

const FILTERED = 20
/** Ids and aliases: some crates have dozens of advisories. */
const ADVISED = 400

/**
 * How well a word matches a crate, best first: it is the name, it is a word of the name, the name
 * begins with it, another word of the name does, it is a keyword, the description contains it, or
 * only what counts a little: the README's first paragraphs, a category, an owner, an advisory, what
 * the core says. `nearFit` gives the same for a word similar to that of the query. Files tell the
 * first word of a name from `later` ones.
 */
const Fit = {
  exact: 1,
  name: 2,
  begins: 3,
  part: 4,
  keyword: 5,
  description: 6,
  later: 7,
  little: 8,
} as const

/** Returns the fit of a crate that has a word with `fit`, where the query has another form of it. */
export function nearFit(fit: number): number {
  return fit < Fit.description ? 7 : 8
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

/** The filters that are terms of crates. */
export const TERM_FILTERS = FILTERS.filter(filter => filter !== 'rust')
type TermFilter = (typeof TERM_FILTERS)[number]

/** Returns the terms of crates with a label, an owner, or each license of an expression. */
export function filterTerms(filter: TermFilter, value: string): string[] {
  const values = filter === 'license' ? value.split(/\s+(?:or|and|with)\s+|[()/,\s]+/i) : [value]
  const filled = values.filter(Boolean).map(value => `${filter}:${value.trim().toLowerCase()}`)
  return [...new Set(filled)]
}

/** The term of all crates that say which Rust they need; its fits are minor versions. */
export const RUST = 'rust:'

export interface SearchableCrate {
  readonly canonical: string
  readonly keywords: readonly string[]
  readonly description: string | null
  readonly categories?: readonly string[]
  readonly license?: string | null
  /** The version of Rust that it needs. */
  readonly rust?: string | null
  /** The usernames of its owners, if pages name them. */
  readonly owners?: readonly string[]
  readonly readme?: string | null
  /** What its core says, the crate of its name and `-core` on which it depends. */
  readonly core?: Pick<SearchableCrate, 'keywords' | 'description'> | null
  /** Those that cover one of its versions. */
  readonly advisories?: readonly {
    readonly id: string
    readonly aliases: readonly string[]
    readonly informational: string | null
  }[]
}

const README_MAX = 4096

/** The most words that only the README of a crate has: their crates make files longer. */
const README_WORDS = 2

/** Words that many first paragraphs have, and that tell nothing. */
const EMPTY_WORDS = new Set(
  'crate crates rust library provides provided implementation use using which not into'.split(' '),
)

/** Returns the first two paragraphs of a README with text beside badges, headings and HTML. */
function firstParagraphs(readme: string): string {
  const paragraphs: string[] = []
  for (const block of readme.slice(0, README_MAX).split(/\r?\n\s*\n/)) {
    const text = block
      // Bounded: otherwise every bracket that nobody closes reads the rest of the line.
      .replace(/!\[[^\]\n]{0,200}\](?:\([^)\n]{0,500}\)|\[[^\]\n]{0,200}\])?/g, '')
      .replace(/\[([^\]\n]{0,200})\](?:\([^)\n]{0,500}\)|\[[^\]\n]{0,200}\])?/g, '$1')
      .replace(/<[^>\n]{0,500}>|https?:\S+|^(?:#.*|.*\n[=-]{3,}|\[.*\]:.*)$/gm, '')
    if (wordsOf(text).length >= 3 && !/^\s*```/.test(text)) paragraphs.push(text)
    if (paragraphs.length === 2) break
  }
  return paragraphs.join('\n')
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
  const keywords = [...crate.keywords, ...(crate.core?.keywords ?? [])]
  for (const word of wordsOf(keywords.join(' '))) put(word, Fit.keyword)
  for (const word of describing(crate)) put(word, Fit.description)
  const { categories = [], owners = [], readme } = crate
  const labels = [...categories, ...owners].slice(0, FILTERED)
  const little = [...labels, ...advisoryIds(crate).slice(0, ADVISED)].flatMap(wordsOf)
  for (const word of [...little, ...describing(crate.core)]) put(word, Fit.little)
  const read = wordsOf(firstParagraphs(readme ?? '')).filter(
    word => !/^\d/.test(word) && !fits.has(word) && !STOP_WORDS.has(word) && !EMPTY_WORDS.has(word),
  )
  for (const word of [...new Set(read)].slice(0, README_WORDS)) put(word, Fit.little)
  for (const term of allFilterTerms(crate)) put(term, Fit.exact)
  const minor = rustMinor(crate.rust ?? null)
  if (minor !== null) fits.set(RUST, minor)
  return fits
}

/** Returns the words of a description that tell something. */
function describing(crate: SearchableCrate['core']): string[] {
  const described = wordsOf(crate?.description ?? '').filter(word => !STOP_WORDS.has(word))
  return [...new Set(described)].slice(0, DESCRIPTION_WORDS)
}

function advisoryIds({ advisories = [] }: SearchableCrate): string[] {
  return advisories.flatMap(({ id, aliases }) => [id, ...aliases])
}

function allFilterTerms(crate: SearchableCrate): string[] {
  const { keywords, categories = [], license, owners = [], advisories = [] } = crate
  // A crate is also in its categories' parents.
  const above = categories.flatMap(category =>
    category.split('::').map((_, at, parts) => parts.slice(0, at + 1).join('::')),
  )
  const kinds = advisories.flatMap(each => ['any', each.informational ?? 'vulnerable'])
  const advisory = [...new Set(kinds), ...advisoryIds(crate)]
  const values = {
    ...{ keyword: keywords, category: above, license: [license ?? ''], owner: owners },
    advisory,
  }
  return TERM_FILTERS.flatMap(filter =>
    values[filter]
      .flatMap(value => filterTerms(filter, value))
      .slice(0, filter === 'advisory' ? ADVISED : FILTERED),
  )
}
