import type { Slice } from './layout.ts'
import type { Found, Leniency, Plan } from './plan.ts'
import { behind, isYanked } from './ranks.ts'

/** All keys are lower. */
const KEYS = 8192

/** Added to the key of crates with only yanked versions, so that they come last. */
const YANKED_KEY = 4096

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
  /** The ids of the crates, ascending, and their keys. */
  readonly #ids: Uint32Array
  readonly #keys: Uint16Array

  /**
   * Finds the crates with the most words among those that have a rank; without words, all of them.
   * The names of the crates in `exact` are the query.
   */
  constructor(ranks: Uint8Array, plan: Plan, exact: ReadonlySet<number>) {
    const { words, similar, suggested, missing } = plan
    const rarest = rarestOf(words)
    const counts = new Uint8Array(ranks.length)
    const worst = new Uint8Array(ranks.length).fill(1)
    for (const { fits } of words)
      for (let id = 0; id < ranks.length; id++) {
        const fit = fits[id] ?? 0
        if (fit === 0) continue
        counts[id] = (counts[id] ?? 0) + 1
        if (fit > (worst[id] ?? 0)) worst[id] = fit
      }
    const ids = new Uint32Array(ranks.length)
    const keys = new Uint16Array(ranks.length)
    let most = Math.min(1, words.length)
    let total = 0
    for (let id = 0; id < ranks.length; id++) {
      const rank = ranks[id] ?? 0
      const count = counts[id] ?? 0
      if (rank === 0 || count < most) continue
      if (count > most) total = 0
      most = count
      const group = (exact.has(id) ? 0 : 2) + (rarest?.fits[id] === 0 ? 1 : 0)
      ids[total] = id
      keys[total++] = keyOf(rank, (group << 3) | ((worst[id] ?? 1) - 1))
    }
    const leniency = { similar, suggested, missing }
    const matched = total === 0 ? 0 : most
    this.outcome = { total, leniency, words: words.length, matched }
    this.#ids = ids.subarray(0, total)
    this.#keys = keys.subarray(0, total)
  }

  /** Returns whether a crate has only yanked versions; null for one that was not found. */
  isYanked(id: number): boolean | null {
    let [low, high] = [0, this.#ids.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#ids[middle] ?? 0) < id) low = middle + 1
      else high = middle
    }
    return this.#ids[low] === id ? (this.#keys[low] ?? 0) >= YANKED_KEY : null
  }

  /** Returns the ids of a part of the crates, in the order of parts of their keys, then of ids. */
  slice({ limit, offset }: Slice, by: keyof typeof KEY_PARTS): number[] {
    const [ids, part] = [this.#ids, KEY_PARTS[by]]
    const keys = this.#keys.map(key => key & part)
    // Counted by key: comparing takes ten times as long.
    const places = new Uint32Array(KEYS + 1)
    for (const key of keys) places[key + 1] = (places[key + 1] ?? 0) + 1
    for (let key = 0; key < KEYS; key++)
      places[key + 1] = (places[key + 1] ?? 0) + (places[key] ?? 0)
    const sorted = new Uint32Array(ids.length)
    for (let at = 0; at < ids.length; at++) {
      const key = keys[at] ?? 0
      const place = places[key] ?? 0
      sorted[place] = ids[at] ?? 0
      places[key] = place + 1
    }
    return Array.from(sorted.subarray(offset, offset + limit))
  }
}

/**
 * Returns the key of a hit. From the highest bit on: yanked, not named by the query, without the
 * rarest word, the fit, and how low the rank is.
 */
function keyOf(rank: number, fit: number): number {
  return (isYanked(rank) ? YANKED_KEY : 0) | (fit << 7) | behind(rank)
}

/** Returns the word that the fewest crates have: it says most about the query. */
function rarestOf(words: readonly Found[]): Found | undefined {
  const least = Math.min(...words.map(({ crates }) => crates))
  return words.find(({ crates }) => crates === least)
}
