import type { SearchFiles } from './files.ts'
import { hashOfStart, shapeOf } from './layout.ts'
import { eachPosting, type Postings } from './postings.ts'
import { gradeOf, type ListedWord, likelyWords, nearWords } from './similar.ts'
import { beginningFit, nearFit, plainFit, SHORT } from './terms.ts'
import { WORD_MAX } from './words.ts'

/** The crates that a word finds. */
export interface Found {
  readonly word: string
  /** How well the word fits each crate, by id; 0 for a crate that it does not find. */
  readonly fits: Uint8Array
  /** Their number; those that several words find instead of it count for each. */
  readonly crates: number
}

/** Changes of a search beyond finding the given words. */
export interface Leniency {
  /** Words that no crate has, with their replacements. */
  readonly similar: readonly Similar[]
  /** Words that few crates have, each with a far more frequent one that may be meant. */
  readonly suggested: readonly Similar[]
  /** Words that no crate has, and that are like no other; they were left out. */
  readonly missing: readonly string[]
}

export interface Similar {
  readonly word: string
  readonly others: readonly string[]
}

/** What becomes of a word of the query. */
interface PlannedWord {
  readonly matches?: Found
  readonly similar?: Similar
  readonly suggested?: Similar
}

export interface Plan extends Leniency {
  readonly words: readonly Found[]
}

/** Maximum number of words, over the whole query, that begin with its words or are inflections. */
const NEAR_MAX = 8
/** If this many crates have a word, crates with similar words would come after too many others. */
const MANY = 4096
/** Maximum number of words that replace a word that no crate has. */
const LIKELY_MAX = 3
/** A word that this many crates have is no typo. */
const FEW = 5
/** A word may be a typo of another whose number of crates has at least this many more bits. */
const GRADES_APART = 3

/** The terms of a search, among crates with ids below `size`; newer ones are not found. */
export class Terms {
  readonly #files: SearchFiles
  readonly #size: number

  constructor(files: SearchFiles, size: number) {
    this.#files = files
    this.#size = size
  }

  /** Returns the crates that a term finds. */
  async postings(term: string): Promise<Postings> {
    return (await this.#files.bucket(hashOfStart(term))).terms.get(term) ?? ''
  }

  /** Plans the search for some words: which crates each of them finds. */
  async plan(words: readonly string[]): Promise<Plan> {
    const share = Math.max(1, Math.floor(NEAR_MAX / words.length))
    const plans = await Promise.all(words.map(word => this.#plan(word, share)))
    return {
      words: plans.flatMap(({ matches }) => matches ?? []),
      similar: plans.flatMap(({ similar }) => similar ?? []),
      suggested: plans.flatMap(({ suggested }) => suggested ?? []),
      missing: words.filter((_, at) => plans[at]?.matches === undefined),
    }
  }

  /** Returns what a word finds, and words that it may stand for; nothing if there is none. */
  async #plan(word: string, share: number): Promise<PlannedWord> {
    if (word.length > WORD_MAX) return {}
    const own = await this.#find(word)
    if (own.crates > MANY) return { matches: own }
    const { words } = await this.#files.bucket(hashOfStart(word))
    const begin = word.slice(0, 3)
    const listed = begin.length < 3 ? [] : words.filter(other => other.word.startsWith(begin))
    const near = await this.#findAll(nearWords(word, listed).slice(0, share))
    const matches = together(own, near, nearFit)
    if (matches.crates >= FEW) return { matches }
    const shaped = (await this.#files.bucket(shapeOf(word))).shapes.get(shapeOf(word)) ?? []
    const likely = likelyWords(word, [...listed, ...shaped])
    if (matches.crates > 0) {
      const better = likely.find(listed => listed.grade >= gradeOf(matches.crates) + GRADES_APART)
      return { matches, ...(better && { suggested: { word, others: [better.word] } }) }
    }
    const replacing = await this.#findAll(likely.slice(0, LIKELY_MAX))
    const [first, ...others] = replacing
    if (!first) return {}
    const similar = { word, others: replacing.map(({ word }) => word) }
    return { matches: together(first, others), similar }
  }

  async #findAll(words: readonly ListedWord[]): Promise<readonly Found[]> {
    const all = await Promise.all(words.map(({ word }) => this.#find(word)))
    return all.filter(({ crates }) => crates > 0)
  }

  /** Returns the crates that have a word, or a longer one in their names. */
  async #find(word: string): Promise<Found> {
    const { terms } = await this.#files.bucket(hashOfStart(word))
    await this.#files.pause()
    const fits = new Uint8Array(this.#size)
    let crates = 0
    eachPosting(terms.get(word) ?? '', (id, fit) => {
      if (keepBest(fits, id, plainFit(fit))) crates++
    })
    if (word.length <= SHORT) return { word, fits, crates }
    for (const [term, postings] of terms)
      if (term !== word && term.startsWith(word) && !term.includes('_'))
        eachPosting(postings, (id, fit) => {
          const begun = beginningFit(fit)
          if (begun !== null && keepBest(fits, id, begun)) crates++
        })
    return { word, fits, crates }
  }
}

/** Keeps the better fit of a crate; returns whether it had none. */
function keepBest(fits: Uint8Array, id: number, fit: number): boolean {
  const before = fits[id]
  if (before === 0 || (before !== undefined && fit < before)) fits[id] = fit
  return before === 0
}

/** Returns what words find together: the best fit of each crate, where others have another fit. */
function together(
  first: Found,
  others: readonly Found[],
  fitOf: (fit: number) => number = fit => fit,
): Found {
  if (others.length === 0) return first
  const fits = first.fits.slice()
  for (const other of others)
    for (let id = 0; id < fits.length; id++) {
      const fit = other.fits[id] ?? 0
      if (fit !== 0) keepBest(fits, id, fitOf(fit))
    }
  return { ...first, fits, crates: others.reduce((sum, { crates }) => sum + crates, first.crates) }
}
