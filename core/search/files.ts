import {
  SEARCH_FOLDER,
  searchBlockPath,
  searchBucketPath,
  searchCommonPath,
  searchFitsPath,
  searchLayoutPath,
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

/** Loads and parses a file by its path below `search/`; bypasses caches if `isFresh`. */
export type Load = (path: string, isFresh: boolean) => Promise<unknown>

type Bucket = readonly (PackedTerm | PackedWords)[]

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

/** The files that a search reads; none is loaded twice. */
export class SearchFiles implements Vocabulary {
  readonly #load: Load
  readonly #files = new Map<string, Promise<unknown>>()

  constructor(load: Load) {
    this.#load = load
  }

  layout(isFresh = false): Promise<SearchLayout> {
    return this.#file(searchLayoutPath, isFresh)
  }

  async counts(terms: readonly string[]): Promise<readonly number[]> {
    return (await Promise.all(terms.map(term => this.term(term)))).map(one => one.crates)
  }

  async listed(key: string, hash: number): ReturnType<Vocabulary['listed']> {
    const name = `${key} ${hash}`
    const [, ...packed] = (await this.#bucket(hash)).find(([one]) => one === name) ?? [name]
    let grade = 0
    return packed.flatMap(one => {
      if (typeof one === 'string') return [{ word: one, grade }]
      grade = Number(one)
      return []
    })
  }

  /** Returns what the bucket of a term has of it. */
  async term(term: string): Promise<Listed> {
    return listed(term, await this.#bucket(hashOf(term)))
  }

  /**
   * Returns the crates of a common term in a range of ids; without the lengths of their names in
   * their ranks, much less is loaded.
   */
  async common(term: string, range: number, withLengths: boolean): Promise<Listed> {
    const path = (withLengths ? searchCommonPath : searchFitsPath)(hashOf(term), range)
    return listed(term, await this.#file<Bucket>(path))
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
  async #bucket(hash: number): Promise<Bucket> {
    const before = this.layout()
    const { bits, crates } = await before
    if (crates === 0) return []
    const load = (bits: number) => this.#file<Bucket>(searchBucketPath(bits, bucketOf(hash, bits)))
    return load(bits).catch(async error => {
      // The number of buckets may have changed since the layout was read.
      const isStale = this.layout() === before
      const after = await this.layout(isStale)
      if (after.bits === bits) throw error
      return load(after.bits)
    })
  }

  /** Loads a file once; a failure is not cached. */
  #file<T>(path: string, isFresh = false): Promise<T> {
    const known = isFresh ? undefined : this.#files.get(path)
    if (known !== undefined) return known as Promise<T>
    // Pages have only the URL of the search folder.
    const file = this.#load(path.slice(SEARCH_FOLDER.length + 1), isFresh)
    this.#files.set(path, file)
    file.catch(() => this.#files.get(path) === file && this.#files.delete(path))
    return file as Promise<T>
  }
}

function unpacked(packed: PackedCrate): FoundCrate {
  const [id, name, version, description, yanked, updatedAt, dependents, rust, ...owners] = packed
  const facts = { updatedAt, dependents, rust, owners }
  return { id, name, version, description, yanked: yanked === 1, ...facts }
}
