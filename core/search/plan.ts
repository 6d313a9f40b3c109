import { POSTINGS_MAX } from './buckets.ts'
import type { Likeness } from './terms.ts'
import { gradeOf, type Key, keyOf, type ListedWord, likelyWords, nearWords } from './vocabulary.ts'
import { WORD_MAX } from './words.ts'

/** What a search knows of the words of a registry; the catalog and the search files answer it. */
export interface Vocabulary {
  /** Returns the number of crates that each of some terms finds. */
  counts(terms: readonly string[]): Promise<readonly number[]>
  /** Returns the words that are listed under a key. */
  listed(key: Key, hash: number): Promise<readonly ListedWord[]>
}

/** A term that a word of the query stands for. */
export interface Variant {
  readonly term: string
  readonly likeness: Likeness
}

/** A word of a query, with the terms that it finds crates by. */
export interface PlannedWord {
  readonly word: string
  readonly variants: readonly Variant[]
  /** The number of crates that the variants find; crates found by several count for each. */
  readonly crates: number
}

/** What a search did beyond finding the words that were given. */
export interface Leniency {
  /** Words that no crate has, with those that were searched instead. */
  readonly similar: readonly Similar[]
  /** Words that few crates have, with a far more frequent one that may be meant. */
  readonly suggested: readonly Similar[]
  /** Words that no crate has, and that are like no other; they were left out. */
  readonly missing: readonly string[]
}

export interface Similar {
  readonly word: string
  readonly others: readonly string[]
}

/** A query, ready to be looked up. */
export interface Plan extends Leniency {
  readonly words: readonly PlannedWord[]
}

/** Maximum number of words, over the whole query, that begin with its words or are inflections. */
const NEAR_MAX = 8
/** Maximum number of crates that these words may have together: browsers load all of them. */
const NEAR_CRATES = 2 * POSTINGS_MAX
/** Maximum number of words that are searched instead of one that no crate has. */
const LIKELY_MAX = 3
/** A word that this many crates have is no typo. */
const FEW = 5
/** A word may be a typo of one that has at least as many more bits in its number of crates. */
const GRADES_APART = 3

/** Plans the search for some words: which terms each of them stands for. */
export async function planSearch(words: readonly string[], vocabulary: Vocabulary): Promise<Plan> {
  const share = Math.max(1, Math.floor(NEAR_MAX / words.length))
  const parts = await Promise.all(words.map(word => planWord(word, vocabulary, share)))
  return {
    words: parts.flatMap(part => (part.planned.crates > 0 ? [part.planned] : [])),
    similar: parts.flatMap(part => part.similar ?? []),
    suggested: parts.flatMap(part => part.suggested ?? []),
    missing: parts.filter(part => part.planned.crates === 0).map(part => part.planned.word),
  }
}

interface Part {
  readonly planned: PlannedWord
  readonly similar?: Similar
  readonly suggested?: Similar
}

async function planWord(word: string, vocabulary: Vocabulary, share: number): Promise<Part> {
  if (word.length > WORD_MAX) return { planned: { word, variants: [], crates: 0 } }
  const [own = 0] = await vocabulary.counts([word])
  // Crates with similar words would come after too many others.
  if (own > POSTINGS_MAX) return { planned: plannedBy(word, [{ ...same(word), crates: own }]) }
  const listed = word.length < 3 ? [] : await vocabulary.listed('start', keyOf('start', word))
  const alike = affordable(nearWords(word, listed), share)
  const near = await existing(alike, 'near', vocabulary)
  // A word that very many crates have is too much for a browser to load, unless it was asked for.
  const found = near.filter(one => one.crates <= POSTINGS_MAX)
  const planned = plannedBy(word, own > 0 ? [{ ...same(word), crates: own }, ...found] : found)
  if (planned.crates >= FEW) return { planned }
  const shaped = await vocabulary.listed('shape', keyOf('shape', word))
  const likely = likelyWords(word, [...listed, ...shaped])
  if (planned.crates > 0) {
    const better = likely.find(one => one.grade >= gradeOf(planned.crates) + GRADES_APART)
    return better ? { planned, suggested: { word, others: [better.word] } } : { planned }
  }
  const others = likely.slice(0, LIKELY_MAX).map(one => one.word)
  const instead = plannedBy(word, await existing(others, 'same', vocabulary))
  if (instead.crates === 0) return { planned }
  return { planned: instead, similar: { word, others: instead.variants.map(one => one.term) } }
}

function same(term: string): Variant {
  return { term, likeness: 'same' }
}

/** Returns the first words, at most `share`, that do not have too many crates by their grades. */
function affordable(near: readonly ListedWord[], share: number): string[] {
  let left = (NEAR_CRATES / NEAR_MAX) * share
  const chosen: string[] = []
  for (const { word, grade } of near) {
    const most = 2 ** grade - 1
    if (chosen.length === share || most > left) continue
    left -= most
    chosen.push(word)
  }
  return chosen
}

type Counted = Variant & { readonly crates: number }

async function existing(
  terms: readonly string[],
  likeness: Likeness,
  vocabulary: Vocabulary,
): Promise<Counted[]> {
  const counts = terms.length === 0 ? [] : await vocabulary.counts(terms)
  const all = terms.map((term, at) => ({ term, likeness, crates: counts[at] ?? 0 }))
  return all.filter(one => one.crates > 0)
}

function plannedBy(word: string, found: readonly Counted[]): PlannedWord {
  const variants = found.map(({ term, likeness }) => ({ term, likeness }))
  return { word, variants, crates: found.reduce((sum, one) => sum + one.crates, 0) }
}

/** Returns the position of the word that the fewest crates have: it says most about the query. */
export function rarestOf(words: readonly PlannedWord[]): number {
  const least = Math.min(...words.map(one => one.crates))
  return words.findIndex(one => one.crates === least)
}
