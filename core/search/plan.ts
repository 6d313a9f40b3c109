import type { Likeness } from './terms.ts'
import { gradeOf, type ListedWord, likelyWords, nearWords } from './vocabulary.ts'
import { WORD_MAX } from './words.ts'

export interface Vocabulary {
  /** Returns the number of crates that a term finds. */
  count(term: string): Promise<number>
  /** Returns the words that begin with the same three letters. */
  beginningAs(word: string): Promise<readonly ListedWord[]>
  /** Returns words that begin and end with the same letters. */
  shapedAs(word: string): Promise<readonly ListedWord[]>
}

/** A term that a word of the query stands for, and the number of crates that it finds. */
export interface Variant {
  readonly term: string
  readonly likeness: Likeness
  readonly crates: number
}

export interface PlannedWord {
  readonly word: string
  readonly variants: readonly Variant[]
  /** The number of crates that the variants find; crates found by several count for each. */
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

export interface Plan extends Leniency {
  readonly words: readonly PlannedWord[]
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

/** Plans the search for some words: which terms each of them stands for. */
export async function planSearch(words: readonly string[], vocabulary: Vocabulary): Promise<Plan> {
  const share = Math.max(1, Math.floor(NEAR_MAX / words.length))
  const plans = await Promise.all(words.map(word => planWord(word, vocabulary, share)))
  return {
    words: plans.flatMap(plan => plan.words ?? []),
    similar: plans.flatMap(plan => plan.similar ?? []),
    suggested: plans.flatMap(plan => plan.suggested ?? []),
    missing: plans.flatMap(plan => plan.missing ?? []),
  }
}

async function planWord(
  word: string,
  vocabulary: Vocabulary,
  share: number,
): Promise<Partial<Plan>> {
  const missing = { missing: [word] }
  if (word.length > WORD_MAX) return missing
  const counted = async (term: string, likeness: Likeness): Promise<Variant[]> => {
    const crates = await vocabulary.count(term)
    return crates > 0 ? [{ term, likeness, crates }] : []
  }
  const planned = (variants: readonly Variant[]): PlannedWord => ({
    word,
    variants,
    crates: variants.reduce((sum, variant) => sum + variant.crates, 0),
  })
  const own = await counted(word, 'same')
  if ((own[0]?.crates ?? 0) > MANY) return { words: [planned(own)] }
  const listed = word.length < 3 ? [] : await vocabulary.beginningAs(word)
  const alike = nearWords(word, listed).slice(0, share)
  const near = await Promise.all(alike.map(listed => counted(listed.word, 'near')))
  const found = planned([...own, ...near.flat()])
  if (found.crates >= FEW) return { words: [found] }
  const likely = likelyWords(word, [...listed, ...(await vocabulary.shapedAs(word))])
  if (found.crates > 0) {
    const better = likely.find(listed => listed.grade >= gradeOf(found.crates) + GRADES_APART)
    return { words: [found], suggested: better ? [{ word, others: [better.word] }] : [] }
  }
  const others = likely.slice(0, LIKELY_MAX).map(listed => counted(listed.word, 'same'))
  const variants = (await Promise.all(others)).flat()
  if (variants.length === 0) return missing
  const similar = [{ word, others: variants.map(({ term }) => term) }]
  return { words: [planned(variants)], similar }
}

/** Returns the position of the word that the fewest crates have: it says most about the query. */
export function rarestOf(words: readonly PlannedWord[]): number {
  const least = Math.min(...words.map(planned => planned.crates))
  return words.findIndex(planned => planned.crates === least)
}
