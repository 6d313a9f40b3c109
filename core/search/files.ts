import {
  SEARCH_FOLDER,
  searchBlockPath,
  searchBucketPath,
  searchLayoutPath,
  searchShelfPath,
} from '../paths/search.ts'
import {
  blockOf,
  bucketOf,
  type PackedCrate,
  type PackedTerm,
  type PackedWords,
  type SearchLayout,
} from './buckets.ts'
import { hashOf } from './hash.ts'
import { type Listed, listed } from './hits.ts'
import type { Vocabulary } from './plan.ts'

/** Loads the text of a file by its path below `search/`; bypasses caches if `isFresh`. */
export type Load = (path: string, isFresh: boolean) => Promise<string>

type Bucket = readonly (PackedTerm | PackedWords)[]

/**
 * Maximum number of bytes that a search loads. As gzip, which servers send, they are about half as
 * many, and never more than 60,000.
 */
const BUDGET = 112_000

/** With fewer bytes left, no further similar words are looked for. */
const LENIENT = 56_000

/** The size that a file is assumed to have until it is there. */
const GUESS = 3000

/** A crate in the results. */
export interface FoundCrate {
  readonly id: number
  readonly name: string
  readonly version: string
  readonly description: string
  /** Whether every version is yanked. */
  readonly yanked: boolean
  readonly updatedAt: string | null
  readonly dependents: number
  /** The minor version of the Rust that it needs; null if unknown. */
  readonly rust: number | null
  readonly owners: readonly string[]
}

/** The files that searches read; none is loaded twice. */
export class SearchFiles implements Vocabulary {
  /** The number of bytes that the search may still load. */
  left = BUDGET
  readonly #load: Load
  readonly #files = new Map<string, Promise<readonly [size: number, data: unknown]>>()
  /** The files of this search. They count although an earlier search may have loaded them. */
  readonly #paid = new Set<string>()
  #words: readonly string[] = []

  constructor(load: Load) {
    this.#load = load
  }

  /** Begins a search for some words. */
  begin(words: readonly string[]): void {
    this.left = BUDGET
    this.#paid.clear()
    this.#words = words
  }

  layout(isFresh = false): Promise<SearchLayout> {
    return this.#file(searchLayoutPath, isFresh)
  }

  async counts(terms: readonly string[]): Promise<readonly number[]> {
    const all = terms.map(term => this.term(term, this.#words.includes(term)))
    return (await Promise.all(all)).map(one => one.crates)
  }

  async listed(key: string, hash: number): ReturnType<Vocabulary['listed']> {
    const name = `${key} ${hash}`
    const [, ...packed] = (await this.#bucket(hash, false)).find(([one]) => one === name) ?? [name]
    let grade = 0
    return packed.flatMap(one => {
      if (typeof one === 'string') return [{ word: one, grade }]
      grade = Number(one)
      return []
    })
  }

  /** Returns what the bucket of a term has of it; unless needed, only if there is enough `left`. */
  async term(term: string, isNeeded = true): Promise<Listed> {
    return listed(term, await this.#bucket(hashOf(term), isNeeded))
  }

  /** Returns the crates of a common term in a shelf. */
  async shelf(term: string, shelf: number): Promise<Listed> {
    return listed(term, await this.#file<Bucket>(searchShelfPath(hashOf(term), shelf)))
  }

  /** Returns crates in order; null for those that were just removed. */
  crates(ids: readonly number[]): Promise<(FoundCrate | null)[]> {
    return Promise.all(
      ids.map(async id => {
        const list = await this.#file<readonly PackedCrate[]>(searchBlockPath(blockOf(id)))
        const packed = list.find(([one]) => one === id)
        return packed === undefined ? null : unpacked(packed)
      }),
    )
  }

  /** Returns the terms and lists of a hash and of others. */
  async #bucket(hash: number, isNeeded: boolean): Promise<Bucket> {
    const { bits, crates } = await this.layout()
    const before = this.#files.get(searchLayoutPath)
    const pathOf = (bits: number) => searchBucketPath(bits, bucketOf(hash, bits))
    const isSpent = !isNeeded && this.left < LENIENT && !this.#paid.has(pathOf(bits))
    if (crates === 0 || isSpent) return []
    const load = (bits: number) => this.#file<Bucket>(pathOf(bits))
    return load(bits).catch(async error => {
      // The number of buckets may have changed since the layout was read.
      const isStale = this.#files.get(searchLayoutPath) === before
      const after = await this.layout(isStale)
      if (after.bits === bits) throw error
      return load(after.bits)
    })
  }

  /** Loads a file once; a failure is not cached. */
  async #file<T>(path: string, isFresh = false): Promise<T> {
    const isPaid = this.#paid.has(path)
    this.#paid.add(path)
    if (!isPaid) this.left -= GUESS
    const [size, data] = await this.#loaded(path, isFresh)
    if (!isPaid) this.left += GUESS - size
    return data as T
  }

  #loaded(path: string, isFresh: boolean): Promise<readonly [size: number, data: unknown]> {
    const known = isFresh ? undefined : this.#files.get(path)
    if (known !== undefined) return known
    // Pages have only the URL of the search folder.
    const text = this.#load(path.slice(SEARCH_FOLDER.length + 1), isFresh)
    const sizeOf = (text: string) => new TextEncoder().encode(text).length
    const file = text.then(text => [sizeOf(text), JSON.parse(text)] as const)
    this.#files.set(path, file)
    file.catch(() => this.#files.get(path) === file && this.#files.delete(path))
    return file
  }
}

function unpacked(packed: PackedCrate): FoundCrate {
  const [id, name, version, description, yanked, updatedAt, dependents, rust, ...owners] = packed
  const facts = { updatedAt, dependents, rust, owners }
  return { id, name, version, description, yanked: yanked === 1, ...facts }
}
