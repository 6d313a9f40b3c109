import { behind, isYanked } from './columns.ts'
import type { Slice } from './layout.ts'
import type { Leniency, Plan } from './plan.ts'
import { eachPosting, type Postings } from './postings.ts'
import { type Likeness, similarFit } from './terms.ts'

/** The key of a crate that is not found; all keys are lower. */
const NO_KEY = 8192

/** Added to the key of crates with only yanked versions, so that they come last. */
const YANKED_KEY = 4096

/** Orders of hits, and the bits of keys that make them; a rank makes the lowest seven. */
const KEY_PARTS = { relevance: -1, dependents: YANKED_KEY | 127, id: 0 } as const

/** The fit of a crate that a word does not find. */
const NO_FIT = 255

/** The crates for which there is room at first. */
const FEW = 1024

/** The crates that a word finds, with the best of their fits: few of many, so they have a list. */
export class Found {
  #ids = new Uint32Array(FEW)
  readonly #fits: Uint8Array
  #count = 0

  /** `size`: above the ids of all crates; newer crates are not found. */
  constructor(size: number) {
    this.#fits = new Uint8Array(size).fill(NO_FIT)
  }

  get ids(): Uint32Array {
    return this.#ids.subarray(0, this.#count)
  }

  put(id: number, fit: number | null): void {
    const before = this.#fits[id]
    if (fit === null || before === undefined || fit >= before) return
    this.#fits[id] = fit
    if (before !== NO_FIT) return
    if (this.#count === this.#ids.length) this.#ids = doubled(this.#ids)
    this.#ids[this.#count++] = id
  }

  /** Returns the fit of a crate that is found. */
  fit(id: number): number {
    return this.#fits[id] ?? NO_FIT
  }
}

function doubled(ids: Uint32Array): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(2 * ids.length)
  more.set(ids)
  return more
}

/** Calls `work` with each id; the iterators of such arrays take ten times as long. */
function eachOf(ids: Uint32Array, work: (id: number) => void): void {
  for (let at = 0; at < ids.length; at++) work(ids[at] ?? 0)
}

/** The crates that a word of the query finds by one of the terms that it stands for. */
interface FoundTerm {
  readonly found: Found
  readonly likeness: Likeness
}

function bestOf(terms: readonly FoundTerm[], size: number): Found {
  const [first] = terms
  if (first?.likeness === 'same' && terms.length === 1) return first.found
  const best = new Found(size)
  for (const { found, likeness } of terms)
    eachOf(found.ids, id => best.put(id, similarFit(found.fit(id), likeness)))
  return best
}

/** The crates that may be hits, by id, while the words and filters of a search are applied. */
export class Candidates {
  /** The ranks of the crates that the filters keep. */
  readonly #ranks: Uint8Array
  /** The number of words that each crate has, and the worst fit of them. */
  readonly #matched: Uint8Array
  readonly #fits: Uint8Array
  /** 2 unless the query is the name, plus 1 without the rarest word. */
  readonly #groups: Uint8Array
  /** The crates with at least one word. */
  readonly #ids: Uint32Array
  #count = 0
  #most = 0

  constructor(ranks: Uint8Array) {
    this.#ranks = ranks.slice()
    this.#matched = new Uint8Array(ranks.length)
    this.#fits = new Uint8Array(ranks.length)
    this.#groups = new Uint8Array(ranks.length).fill(3)
    this.#ids = new Uint32Array(ranks.length)
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

  addWord(terms: readonly FoundTerm[], isRarest: boolean): void {
    const [ranks, matched, fits, groups] = [this.#ranks, this.#matched, this.#fits, this.#groups]
    const all = this.#ids
    const best = bestOf(terms, ranks.length)
    const ids = best.ids
    let most = this.#most
    let end = this.#count
    for (let at = 0; at < ids.length; at++) {
      const id = ids[at] ?? 0
      const count = (matched[id] ?? 0) + 1
      matched[id] = count
      if (count === 1) all[end++] = id
      if (count > most && ranks[id] !== 0) most = count
      const fit = best.fit(id)
      if (fit > (fits[id] ?? 0)) fits[id] = fit
      if (isRarest) groups[id] = (groups[id] ?? 0) & 2
    }
    this.#most = most
    this.#count = end
  }

  /** Puts crates first whose names are the joined words of the query. */
  addExact(postings: Postings): void {
    eachPosting(postings, id => {
      this.#groups[id] = (this.#groups[id] ?? 0) & 1
    })
  }

  /** The most words that a crate has which the filters keep. */
  get mostMatched(): number {
    return this.#most
  }

  /**
   * Returns the ids of the crates with the most words, and keys by id that sort them; without
   * words, of all that the filters keep. From the highest bit on: yanked, not named by the query,
   * without the rarest word, the fit, and how low the rank is.
   */
  found(): { readonly ids: Uint32Array; readonly keys: Uint16Array } {
    const [ranks, matched, most] = [this.#ranks, this.#matched, this.#most]
    const [groups, fits, all] = [this.#groups, this.#fits, this.#ids]
    const keys = new Uint16Array(ranks.length).fill(NO_KEY)
    const ids = new Uint32Array(ranks.length)
    let end = 0
    const count = most === 0 ? ranks.length : this.#count
    for (let at = 0; at < count; at++) {
      const id = most === 0 ? at : (all[at] ?? 0)
      const rank = ranks[id] ?? 0
      if (rank === 0 || matched[id] !== most) continue
      const fit = ((groups[id] ?? 0) << 3) | (fits[id] ?? 0)
      keys[id] = (isYanked(rank) ? YANKED_KEY : 0) | (fit << 7) | behind(rank)
      ids[end++] = id
    }
    return { ids: ids.subarray(0, end), keys }
  }
}

/** The hits of a search, in order. */
export class Hits {
  readonly leniency: Leniency
  /** The number of words that each of these crates has, the most that any crate has. */
  readonly matched: number
  readonly words: number
  readonly #ids: Uint32Array
  readonly #keys: Uint16Array

  constructor(candidates: Candidates, { words, similar, suggested, missing }: Plan) {
    this.leniency = { similar, suggested, missing }
    this.words = words.length
    this.matched = candidates.mostMatched
    // Words that no crate has together with the filters find nothing.
    const isFound = this.words === 0 || this.matched > 0
    const { ids, keys } = isFound
      ? candidates.found()
      : { ids: new Uint32Array(), keys: new Uint16Array() }
    this.#ids = ids
    this.#keys = keys
  }

  /** The number of crates on all pages. */
  get total(): number {
    return this.#ids.length
  }

  /** Returns the ids of a part of the crates, in the order of parts of their keys, then of ids. */
  slice({ limit, offset }: Slice, by: keyof typeof KEY_PARTS): number[] {
    const part = KEY_PARTS[by]
    const [all, keys] = [this.#ids, this.#keys]
    const keyOf = (id: number) => (keys[id] ?? NO_KEY) & part
    const next = new Int32Array(NO_KEY)
    eachOf(all, id => {
      const key = keyOf(id)
      next[key] = (next[key] ?? 0) + 1
    })
    let first = -offset
    for (let key = 0; key < next.length; key++) {
      const count = next[key] ?? 0
      next[key] = first
      first += count
    }
    // Without those of keys that come later, few are left to be sorted.
    const ids: number[] = []
    eachOf(all.filter(id => (next[keyOf(id)] ?? 0) < limit).sort(), id => {
      const key = keyOf(id)
      const at = next[key] ?? 0
      next[key] = at + 1
      if (at >= 0 && at < limit) ids[at] = id
    })
    return ids
  }

  /** Whether a crate is found; null for a hit with only yanked versions. */
  has(id: number): boolean | null {
    const key = this.#keys[id] ?? NO_KEY
    return key < YANKED_KEY || (key < NO_KEY ? null : false)
  }
}
