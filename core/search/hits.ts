import { blockOf, type PackedTerm, rangeOf } from './buckets.ts'
import { type Likeness, similarRank } from './terms.ts'
import { nameLength, RANK_FIT, RANK_YANKED } from './words.ts'

/** The crates that a term finds, as its file lists them. */
export interface Listed {
  readonly term: string
  /** Total number of crates; for a common term, more than `ranks` has. */
  readonly crates: number
  /** The first crates: id → rank. */
  readonly ranks: ReadonlyMap<number, number>
  /** The id ranges of the other crates. */
  readonly ranges: readonly number[]
}

/** The crates that a word of a query finds by several terms, or a filter by one. */
export interface WordHits {
  readonly lists: readonly (Listed & { readonly likeness: Likeness })[]
}

/** A crate that matches, with its highest rank over all words. */
export interface Hit {
  readonly id: number
  readonly rank: number
}

/** Longer than any name. */
const UNKNOWN_LENGTH = RANK_FIT - 1

/** Unpacks a term from its bucket. */
export function listed(term: string, bucket: readonly (readonly [string, ...unknown[]])[]): Listed {
  const packed = bucket.find(([one]) => one === term) as PackedTerm | undefined
  const [, total, ...groups] = packed ?? [term, 0]
  const [crates = 0, ...ranges] = typeof total === 'number' ? [total] : total
  const ranks = new Map<number, number>()
  for (const [rank = 0, ...steps] of groups) {
    let id = 0
    for (const step of steps) {
      id += step
      ranks.set(id, rank)
    }
  }
  return { term, crates, ranks, ranges }
}

/** Whether the lists of a word do not have all its crates. */
export function isCommon({ lists }: WordHits): boolean {
  return lists.some(list => list.ranges.length > 0)
}

/** Whether a hit is a crate whose versions are all yanked. */
export function isYanked({ rank }: Pick<Hit, 'rank'>): boolean {
  return rank >= RANK_YANKED
}

/** Returns the crates of a word, each with its best rank. */
export function ranksOf({ lists }: WordHits): Map<number, number> {
  const ranks = new Map<number, number>()
  for (const { ranks: own, likeness } of lists) {
    for (const [id, rank] of own) {
      const now = similarRank(rank, likeness)
      if (now < (ranks.get(id) ?? Number.POSITIVE_INFINITY)) ranks.set(id, now)
    }
  }
  return ranks
}

/** Returns the crates that every word finds; those whose names have no known length come last. */
export function hitsOf(words: readonly WordHits[]): Hit[] {
  const [first, ...others] = words.map(ranksOf).sort((a, b) => a.size - b.size)
  const found: Hit[] = []
  for (const [id, own] of first ?? []) {
    const ranks = [own, ...others.map(other => other.get(id) ?? -1)]
    if (ranks.includes(-1)) continue
    const rank = Math.max(...ranks)
    const length = Math.max(...ranks.map(nameLength)) || UNKNOWN_LENGTH
    found.push({ id, rank: rank - nameLength(rank) + length })
  }
  return found
}

/** Returns the crates that the most words find, though not all; those of `rarest` come first. */
export function mostHits(
  words: readonly WordHits[],
  masks: readonly WordHits[],
  rarest: WordHits | undefined,
): { hits: Hit[]; matched: number } {
  const found = new Map<number, { count: number; rank: number }>()
  const kept = masks.map(ranksOf)
  let matched = 0
  for (const ranks of words.map(ranksOf)) {
    for (const [id, rank] of ranks) {
      if (!kept.every(mask => mask.has(id))) continue
      const before = found.get(id) ?? { count: 0, rank: 0 }
      found.set(id, { count: before.count + 1, rank: Math.max(before.rank, rank) })
      matched = Math.max(matched, before.count + 1)
    }
  }
  const first = rarest && ranksOf(rarest)
  const best = [...found].filter(([, { count }]) => count === matched)
  // The rank stays that of a yanked or unyanked crate; twice as many ranks have room for the rest.
  const hits = best.map(([id, { rank }]) => {
    const later = first?.has(id) ? 0 : RANK_YANKED
    return { id, rank: rank < RANK_YANKED ? rank / 2 + later / 2 : rank + later }
  })
  return { hits, matched }
}

/**
 * Returns the number of hits of common words whose place is known: a crate that is not among the
 * first ones of any word has none of the ranks of these.
 */
export function certainOf(hits: readonly Hit[], words: readonly WordHits[]): number {
  const end = Math.max(...words.map(lastRank))
  return hits.filter(({ rank }) => rank < end).length
}

/** Returns the lowest rank that a crate may have which the lists of a common word lack. */
function lastRank({ lists }: WordHits): number {
  const common = lists.filter(list => list.ranges.length > 0)
  const lasts = common.map(list => similarRank(Math.max(...list.ranks.values()), list.likeness))
  return Math.min(...lasts)
}

/** Returns the word that the fewest crates have, if each counts for every list that has it. */
export function leastOf(words: readonly WordHits[]): WordHits | undefined {
  const size = ({ lists }: WordHits) => lists.reduce((sum, list) => sum + list.crates, 0)
  return words.toSorted((a, b) => size(a) - size(b))[0]
}

/** Returns the number of crates of a word; there may be more if it is common. */
export function sizeOf(word: WordHits): { total: number; isLeast: boolean } {
  if (!isCommon(word)) return { total: ranksOf(word).size, isLeast: false }
  const total = Math.max(...word.lists.map(list => list.crates))
  return { total, isLeast: word.lists.length > 1 }
}

/** Returns the id ranges of some crates. */
export function rangesOf(hits: readonly Hit[]): Set<number> {
  return new Set(hits.map(hit => rangeOf(hit.id)))
}

/** Returns the hits whose name may begin with `key`: those in `beginning`; shortest first. */
export function named(
  hits: readonly Hit[],
  beginning: ReadonlyMap<number, number>,
  key: string,
): Hit[] {
  const length = ({ id, rank }: Hit) => nameLength(beginning.get(id) ?? 0) || nameLength(rank)
  return hits
    .filter(hit => beginning.has(hit.id) && length(hit) >= key.length)
    .sort((a, b) => length(a) - length(b) || a.id - b.id)
}

/** Returns hits in the order of results, as if no name began with the query. */
export function inOrder(hits: readonly Hit[]): Hit[] {
  return [...hits].sort((a, b) => a.rank - b.rank || a.id - b.id)
}

/** Returns the first hits, as many as are in `most` files of crates. */
export function inBlocks(hits: readonly Hit[], most: number): readonly Hit[] {
  const blocks = new Set<number>()
  const end = hits.findIndex(hit => blocks.add(blockOf(hit.id)).size > most)
  return hits.slice(0, end < 0 ? hits.length : end)
}
