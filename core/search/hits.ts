import type { Slice } from './layout.ts'
import type { Leniency, Plan } from './plan.ts'
import { behind, isYanked } from './ranks.ts'

/** The key of a crate that was not found; those of others are lower. */
const NOT_FOUND = 8192

/** Added to the key of crates with only yanked versions, so that they come last. */
const YANKED_KEY = 4096

/**
 * By how many ranks a word in a field counts less than the name of the crate, by its fit. Five
 * ranks are half as many dependents.
 */
const HANDICAPS = [0, 0, 1, 5, 8, 10, 28, 30, 30]

/** Orders of hits, and the bits of keys that make them; a rank makes the lowest seven. */
const KEY_PARTS = { relevance: -1, dependents: YANKED_KEY | 127, id: 0 } as const

/** What a search found, besides the crates. */
export interface Outcome {
  /** The number of crates on all pages. */
  readonly total: number
  readonly leniency: Leniency
  readonly words: number
  /** The number of words that each of these crates has, the most that any crate has. */
  readonly matched: number
  /** The number of best crates that were looked at, where that is not all. */
  readonly considered?: number | null
  /** The number of characters that a browser has loaded for it, and for others on the same page. */
  readonly loaded?: number
}

/** The crates that a search finds. */
export class Hits {
  readonly outcome: Outcome
  /** The keys of all crates by their ids. */
  readonly #keys: Uint16Array
  /** None has a larger key. */
  #last = 0

  /**
   * Finds the crates with the most words among those that have a rank; without words, all of them.
   * The names of the crates in `exact` are the query.
   */
  constructor(ranks: Uint8Array, plan: Plan, exact: ReadonlySet<number>) {
    const { words, similar, suggested, missing } = plan
    const counts = new Uint8Array(ranks.length)
    const handicaps = new Uint16Array(ranks.length)
    let most = Math.min(1, words.length)
    for (const { fits } of words)
      for (let id = 0; id < ranks.length; id++) {
        const fit = fits[id] ?? 0
        if (fit === 0 || ranks[id] === 0) continue
        const count = (counts[id] ?? 0) + 1
        counts[id] = count
        if (count > most) most = count
        handicaps[id] = (handicaps[id] ?? 0) + (HANDICAPS[fit] ?? 0)
      }
    const keys = new Uint16Array(ranks.length).fill(NOT_FOUND)
    // The field of a single word is all that tells of the crate, so it counts twice.
    const isSeveral = words.length > 1
    const weight = isSeveral ? 1 / most : 2
    let total = 0
    for (let id = 0; id < ranks.length; id++) {
      const rank = ranks[id] ?? 0
      if (rank === 0 || (counts[id] ?? 0) < most) continue
      const handicap = handicaps[id] ?? 0
      // First comes the crate that the query names; fields and dependents count together for the
      // others, in eighths of ranks.
      const isNamed = exact.has(id) || (handicap === 0 && !isSeveral)
      const score = isNamed ? 0 : 1 + ((behind(rank) + handicap * weight) >> 3)
      // The bits, highest first: yanked, score, and how low the rank is.
      const key = (isYanked(rank) ? YANKED_KEY : 0) | (score << 7) | behind(rank)
      keys[id] = key
      if (key > this.#last) this.#last = key
      total++
    }
    const leniency = { similar, suggested, missing }
    this.outcome = { total, leniency, words: words.length, matched: total === 0 ? 0 : most }
    this.#keys = keys
  }

  /** Returns whether a crate has only yanked versions; null for one that was not found. */
  isYanked(id: number): boolean | null {
    const key = this.#keys[id] ?? NOT_FOUND
    return key === NOT_FOUND ? null : key >= YANKED_KEY
  }

  /** Returns the ids of a part of the crates, in the order of parts of their keys, then of ids. */
  slice({ limit, offset }: Slice, by: keyof typeof KEY_PARTS): number[] {
    const [keys, part] = [this.#keys, KEY_PARTS[by]]
    // Counted by key: comparing takes ten times as long.
    const places = new Uint32Array(this.#last + 2)
    for (const key of keys)
      if (key !== NOT_FOUND) places[(key & part) + 1] = (places[(key & part) + 1] ?? 0) + 1
    for (let key = 0; key <= this.#last; key++)
      places[key + 1] = (places[key + 1] ?? 0) + (places[key] ?? 0)
    const sorted = new Uint32Array(this.outcome.total)
    for (let id = 0; id < keys.length; id++) {
      const key = keys[id] ?? NOT_FOUND
      if (key === NOT_FOUND) continue
      const place = places[key & part] ?? 0
      sorted[place] = id
      places[key & part] = place + 1
    }
    return Array.from(sorted.subarray(offset, offset + limit))
  }
}
