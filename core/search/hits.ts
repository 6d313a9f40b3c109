import { blockOf, type PackedTerm } from './buckets.ts'
import { type Likeness, similarRank } from './terms.ts'
import { RANK_YANKED } from './words.ts'

/** The crates that a term finds, as its file lists them. */
export interface Listed {
  readonly term: string
  /** Total number of crates; for a common term, more than `ranks` has. */
  readonly crates: number
  /** The first crates: id → rank. */
  readonly ranks: ReadonlyMap<number, number>
  /** The shelves that have all crates of a common term, with the number of crates of each. */
  readonly shelves: ReadonlyMap<number, number>
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

/** Unpacks a term from its bucket or shelf. */
export function listed(term: string, bucket: readonly (readonly [string, ...unknown[]])[]): Listed {
  const packed = bucket.find(([one]) => one === term) as PackedTerm | undefined
  const [, total, ...groups] = packed ?? [term, 0]
  const [crates = 0, ...counts] = typeof total === 'number' ? [total] : total
  const shelves = new Map<number, number>()
  for (let at = 0; at < counts.length; at += 2) shelves.set(counts[at] ?? 0, counts[at + 1] ?? 0)
  const ranks = new Map<number, number>()
  for (const [rank = 0, ...steps] of groups) {
    let id = 0
    for (const step of steps) {
      id += step
      ranks.set(id, rank)
    }
  }
  return { term, crates, ranks, shelves }
}

/** Whether the lists of a word do not have all its crates. */
export function isCommon({ lists }: WordHits): boolean {
  return lists.some(list => list.shelves.size > 0)
}

/** Whether a hit is a crate whose versions are all yanked; ranks of `exact` ones are lower by 1. */
export function isYanked({ rank }: Pick<Hit, 'rank'>): boolean {
  return rank >= RANK_YANKED - 1
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

/** Returns the crates that every word finds, in order; those in `exact` first. */
export function hitsOf(words: readonly WordHits[], exact?: ReadonlyMap<number, unknown>): Hit[] {
  const [first, ...others] = words.map(ranksOf).sort((a, b) => a.size - b.size)
  const found: Hit[] = []
  for (const [id, own] of first ?? []) {
    const ranks = others.map(other => other.get(id) ?? -1)
    if (ranks.includes(-1)) continue
    const rank = Math.max(own, ...ranks)
    found.push({ id, rank: exact?.has(id) ? rank - (rank % RANK_YANKED) - 1 : rank })
  }
  return inOrder(found)
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
  return { hits: inOrder(hits), matched }
}

/** Returns the number of crates of a word; there may be more if it is common. */
export function sizeOf(word: WordHits): { total: number; isLeast: boolean } {
  if (!isCommon(word)) return { total: ranksOf(word).size, isLeast: false }
  const total = Math.max(...word.lists.map(list => list.crates))
  return { total, isLeast: word.lists.length > 1 }
}

function inOrder(hits: readonly Hit[]): Hit[] {
  return [...hits].sort((a, b) => a.rank - b.rank || a.id - b.id)
}

/** Returns the first hits, as many as are in `most` files of crates. */
export function inBlocks(hits: readonly Hit[], most: number): readonly Hit[] {
  const blocks = new Set<number>()
  const end = hits.findIndex(hit => blocks.add(blockOf(hit.id)).size > most)
  return hits.slice(0, end < 0 ? hits.length : end)
}
