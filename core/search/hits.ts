import { behind, isYanked } from './files/columns.ts'
import { SHARD_CRATES, type Slice } from './files/layout.ts'
import { eachPosting, type Postings } from './files/postings.ts'
import type { Leniency, Plan } from './plan.ts'
import { type Likeness, similarFit } from './terms.ts'

/** The key of a crate that is not found; all keys are lower. */
const NO_KEY = 8192

/** Added to the key of crates with only yanked versions, so that they come last. */
const YANKED_KEY = 4096

/** Orders of hits, and the bits of keys that make them; a rank makes the lowest seven. */
const KEY_PARTS = { relevance: -1, dependents: YANKED_KEY | 127, id: 0 } as const

/** A fit that no word has. */
const NO_FIT = 255

/** The crates of a shard that a word finds, each with its best fit. */
export class WordCrates {
  readonly places: number[] = []
  readonly #fits = new Uint8Array(SHARD_CRATES).fill(NO_FIT)

  /** Adds a crate unless it has a better fit; null is none. */
  put(place: number, fit: number | null): void {
    const before = this.#fits[place] ?? 0
    if (fit === null || fit >= before) return
    if (before === NO_FIT) this.places.push(place)
    this.#fits[place] = fit
  }

  fitAt(place: number): number {
    return this.#fits[place] ?? NO_FIT
  }
}

/** The hits of a search in one shard. */
export class ShardHits {
  readonly firstId: number
  readonly #ranks: Uint8Array
  /** The number of words that each crate has, and the worst fit of them. */
  readonly #matched: Uint8Array
  readonly #fits: Uint8Array
  /** 2 without the rarest word, plus 1 unless the query is the name. */
  readonly #later: Uint8Array

  constructor(shard: number, ranks: Uint8Array) {
    this.firstId = shard * SHARD_CRATES
    this.#ranks = ranks.slice()
    this.#matched = new Uint8Array(ranks.length)
    this.#fits = new Uint8Array(ranks.length)
    this.#later = new Uint8Array(ranks.length).fill(3)
  }

  /** Keeps only these crates. */
  keep(postings: Postings): void {
    const kept = new Uint8Array(this.#ranks.length)
    eachPosting(postings, place => {
      kept[place] = this.#ranks[place] ?? 0
    })
    this.#ranks.set(kept)
  }

  /** Keeps crates that say to need no later Rust than a minor version; `column`: all of them. */
  keepRust(minor: number, column: Uint8Array): void {
    for (let place = 0; place < column.length; place++)
      if ((column[place] ?? 0) > minor + 1) this.#ranks[place] = 0
  }

  /** Adds the crates that a word of the query finds by some terms. */
  addWord(
    terms: readonly { readonly found: WordCrates; readonly likeness: Likeness }[],
    isRarest: boolean,
  ): void {
    const best = new WordCrates()
    for (const { found, likeness } of terms)
      for (const place of found.places) best.put(place, similarFit(found.fitAt(place), likeness))
    for (const place of best.places) {
      const fit = best.fitAt(place)
      this.#matched[place] = (this.#matched[place] ?? 0) + 1
      if (fit > (this.#fits[place] ?? 0)) this.#fits[place] = fit
      if (isRarest) this.#later[place] = (this.#later[place] ?? 0) & 1
    }
  }

  /** Puts crates first whose names are the joined words of the query. */
  addExact(postings: Postings): void {
    eachPosting(postings, place => {
      this.#later[place] = (this.#later[place] ?? 0) & 2
    })
  }

  /** Returns the highest number of words that a crate has; -1 if there is no crate. */
  mostMatched(): number {
    let most = -1
    for (let place = 0; place < this.#ranks.length; place++) {
      const count = this.#matched[place] ?? 0
      if (count > most && this.#ranks[place] !== 0) most = count
    }
    return most
  }

  /**
   * Returns keys that sort crates with this many matched words. From the highest bit on: yanked,
   * not named by the query, without the rarest word, the fit, and how low the rank is.
   */
  keys(matched: number): Uint16Array {
    const keys = new Uint16Array(this.#ranks.length).fill(NO_KEY)
    for (let place = 0; place < keys.length; place++) {
      const rank = this.#ranks[place] ?? 0
      if (rank === 0 || this.#matched[place] !== matched) continue
      const later = this.#later[place] ?? 0
      const group = ((later & 1) << 1) | (later >> 1)
      const fit = (group << 3) | (this.#fits[place] ?? 0)
      keys[place] = (isYanked(rank) ? YANKED_KEY : 0) | (fit << 7) | behind(rank)
    }
    return keys
  }
}

/** The hits of a search, in order. */
export class Hits {
  readonly leniency: Leniency
  /** The number of crates on all pages. */
  readonly total: number
  /** The number of words that each of these crates has, the most that any crate has. */
  readonly matched: number
  readonly words: number
  readonly #shards: readonly { readonly firstId: number; readonly keys: Uint16Array }[]

  constructor(shards: readonly ShardHits[], plan: Plan) {
    const most = Math.max(-1, ...shards.map(shard => shard.mostMatched()))
    const { similar, suggested, missing } = plan
    this.leniency = { similar, suggested, missing }
    this.words = plan.words.length
    this.matched = Math.max(0, most)
    // Words that no crate has together with the filters find nothing.
    const isFound = this.words === 0 || most > 0
    this.#shards = (isFound ? shards : []).map(shard => {
      return { firstId: shard.firstId, keys: shard.keys(this.matched) }
    })
    this.total = this.#shards.reduce((sum, { keys }) => sum + countOf(keys), 0)
  }

  /** Returns the ids of a part of the crates, in the order of parts of their keys, then of ids. */
  slice({ limit, offset }: Slice, by: keyof typeof KEY_PARTS): number[] {
    const part = KEY_PARTS[by]
    const counts = new Uint32Array(NO_KEY + 1)
    for (const { keys } of this.#shards)
      for (let at = 0; at < keys.length; at++) {
        const key = keys[at] ?? NO_KEY
        const own = key < NO_KEY ? key & part : NO_KEY
        counts[own] = (counts[own] ?? 0) + 1
      }
    const next: number[] = []
    let first = -offset
    for (const count of counts) {
      next.push(first)
      first += count
    }
    const ids: number[] = []
    for (const { keys, firstId } of this.#shards)
      for (let place = 0; place < keys.length; place++) {
        const key = keys[place] ?? NO_KEY
        if (key === NO_KEY) continue
        const at = next[key & part] ?? 0
        next[key & part] = at + 1
        if (at >= 0 && at < limit) ids[at] = firstId + place
      }
    return ids
  }

  /** Whether a crate is found; null for a hit with only yanked versions. */
  has(id: number): boolean | null {
    const { keys } = this.#shards[Math.floor(id / SHARD_CRATES)] ?? {}
    const key = keys?.[id % SHARD_CRATES] ?? NO_KEY
    return key < YANKED_KEY || (key < NO_KEY ? null : false)
  }
}

function countOf(keys: Uint16Array): number {
  let count = 0
  for (let place = 0; place < keys.length; place++) if (keys[place] !== NO_KEY) count++
  return count
}
