import { behind, isYanked } from './files/columns.ts'
import type { Slice } from './files/layout.ts'
import { eachPosting, type Postings } from './files/postings.ts'
import type { Leniency, Plan } from './plan.ts'
import { type Likeness, similarFit } from './terms.ts'

/** The key of a crate that is not found; all keys are lower. */
const NO_KEY = 8192

/** Added to the key of crates with only yanked versions, so that they come last. */
const YANKED_KEY = 4096

/** Orders of hits, and the bits of keys that make them; a rank makes the lowest seven. */
const KEY_PARTS = { relevance: -1, dependents: YANKED_KEY | 127, id: 0 } as const

/** The fit of a crate that a word does not find. */
export const NO_FIT = 255

/** The crates that may be hits, by id, while the words and filters of a search are applied. */
export class Candidates {
  /** The ranks of the crates that the filters keep. */
  readonly #ranks: Uint8Array
  /** The number of words that each crate has, and the worst fit of them. */
  readonly #matched: Uint8Array
  readonly #fits: Uint8Array
  /** 2 unless the query is the name, plus 1 without the rarest word. */
  readonly #groups: Uint8Array

  constructor(ranks: Uint8Array) {
    this.#ranks = ranks.slice()
    this.#matched = new Uint8Array(ranks.length)
    this.#fits = new Uint8Array(ranks.length)
    this.#groups = new Uint8Array(ranks.length).fill(3)
  }

  keep(postings: Postings): void {
    const kept = new Uint8Array(this.#ranks.length)
    eachPosting(postings, id => {
      kept[id] = this.#ranks[id] ?? 0
    })
    this.#ranks.set(kept)
  }

  /** Keeps crates that say to need no later Rust than a minor version; `column`: all of them. */
  keepRust(minor: number, column: Uint8Array): void {
    for (let id = 0; id < column.length; id++)
      if ((column[id] ?? 0) > minor + 1) this.#ranks[id] = 0
  }

  addWord(
    terms: readonly { readonly fits: Uint8Array; readonly likeness: Likeness }[],
    isRarest: boolean,
  ): void {
    const best = new Uint8Array(this.#ranks.length).fill(NO_FIT)
    for (const { fits, likeness } of terms)
      for (let id = 0; id < best.length; id++) {
        const fit = fits[id] ?? NO_FIT
        if (fit !== NO_FIT) best[id] = Math.min(best[id] ?? NO_FIT, similarFit(fit, likeness))
      }
    for (let id = 0; id < best.length; id++) {
      const fit = best[id] ?? NO_FIT
      if (fit === NO_FIT) continue
      this.#matched[id] = (this.#matched[id] ?? 0) + 1
      if (fit > (this.#fits[id] ?? 0)) this.#fits[id] = fit
      if (isRarest) this.#groups[id] = (this.#groups[id] ?? 0) & 2
    }
  }

  /** Puts crates first whose names are the joined words of the query. */
  addExact(postings: Postings): void {
    eachPosting(postings, id => {
      this.#groups[id] = (this.#groups[id] ?? 0) & 1
    })
  }

  /** Returns the highest number of words that a crate has; -1 if there is no crate. */
  mostMatched(): number {
    let most = -1
    for (let id = 0; id < this.#ranks.length; id++) {
      const count = this.#matched[id] ?? 0
      if (count > most && this.#ranks[id] !== 0) most = count
    }
    return most
  }

  /**
   * Returns keys that sort crates with this many matched words. From the highest bit on: yanked,
   * not named by the query, without the rarest word, the fit, and how low the rank is.
   */
  keys(matched: number): Uint16Array {
    const keys = new Uint16Array(this.#ranks.length).fill(NO_KEY)
    for (let id = 0; id < keys.length; id++) {
      const rank = this.#ranks[id] ?? 0
      if (rank === 0 || this.#matched[id] !== matched) continue
      const fit = ((this.#groups[id] ?? 0) << 3) | (this.#fits[id] ?? 0)
      keys[id] = (isYanked(rank) ? YANKED_KEY : 0) | (fit << 7) | behind(rank)
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
  readonly #keys: Uint16Array

  constructor(candidates: Candidates, { words, similar, suggested, missing }: Plan) {
    this.leniency = { similar, suggested, missing }
    this.words = words.length
    this.matched = Math.max(0, candidates.mostMatched())
    // Words that no crate has together with the filters find nothing.
    const isFound = this.words === 0 || this.matched > 0
    this.#keys = isFound ? candidates.keys(this.matched) : new Uint16Array()
    this.total = 0
    for (const key of this.#keys) if (key < NO_KEY) this.total++
  }

  /** Returns the ids of a part of the crates, in the order of parts of their keys, then of ids. */
  slice({ limit, offset }: Slice, by: keyof typeof KEY_PARTS): number[] {
    const part = KEY_PARTS[by]
    const next = new Int32Array(NO_KEY + 1)
    for (const key of this.#keys) if (key < NO_KEY) next[key & part] = (next[key & part] ?? 0) + 1
    let first = -offset
    for (let key = 0; key < NO_KEY; key++) {
      const count = next[key] ?? 0
      next[key] = first
      first += count
    }
    const ids: number[] = []
    for (let id = 0; id < this.#keys.length; id++) {
      const key = this.#keys[id] ?? NO_KEY
      if (key === NO_KEY) continue
      const at = next[key & part] ?? 0
      next[key & part] = at + 1
      if (at >= 0 && at < limit) ids[at] = id
    }
    return ids
  }

  /** Whether a crate is found; null for a hit with only yanked versions. */
  has(id: number): boolean | null {
    const key = this.#keys[id] ?? NO_KEY
    return key < YANKED_KEY || (key < NO_KEY ? null : false)
  }
}
