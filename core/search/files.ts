import {
  SEARCH_FOLDER,
  searchBlockPath,
  searchBucketPath,
  searchLayoutPath,
  searchRanksPath,
} from '../paths/search.ts'
import { blockOf, bucketOf, type SearchLayout } from './layout.ts'
import { crateCount, type Postings } from './postings.ts'
import { ranksIn } from './ranks.ts'
import { gradeOf, isListed, type ListedWord } from './similar.ts'

/** The terms of a bucket, and the words of the shapes that have their hashes in it. */
export interface Bucket {
  readonly terms: ReadonlyMap<string, Postings>
  /** The whole words among the terms. */
  readonly words: readonly ListedWord[]
  readonly shapes: ReadonlyMap<number, readonly ListedWord[]>
}

/** A crate as results show it. */
export interface FoundCrate {
  readonly id: number
  readonly name: string
  /** The newest version that is not yanked, or the newest of all. */
  readonly newest: string
  readonly about: { readonly description: string | null }
  readonly yanked: boolean
  readonly isDeprecated?: boolean
  readonly updatedAt: string | null
}

/** Where search files come from. */
export interface SearchSource {
  /** Loads the text of a file by its path below `search/`; bypasses caches if `isFresh`. */
  load(path: string, isFresh: boolean): Promise<string>
  /** Lets others have a tick of the event loop; called after each piece of some milliseconds. */
  pause?(): Promise<unknown>
}

/** The files of a search; none is loaded twice. */
export class SearchFiles {
  readonly #source: SearchSource
  readonly #files = new Map<string, Promise<unknown>>()
  /** The number of characters that were loaded. */
  loaded = 0

  constructor(source: SearchSource) {
    this.#source = source
  }

  async pause(): Promise<void> {
    await this.#source.pause?.()
  }

  layout(isFresh = false): Promise<SearchLayout> {
    return this.#file(searchLayoutPath, text => JSON.parse(text), isFresh)
  }

  /** Forgets all files; returns whether the layout is still the one that was read. */
  async hasSameLayout(): Promise<boolean> {
    const before = await this.layout()
    this.#files.clear()
    const now = await this.layout(true)
    return now.bits === before.bits && now.format === before.format
  }

  /** Returns the ranks of all crates by their ids. */
  ranks(): Promise<Uint8Array> {
    return this.#file(searchRanksPath, text => ranksIn(JSON.parse(text)))
  }

  /** Returns the bucket of a hash. */
  async bucket(hash: number): Promise<Bucket> {
    const { bits } = await this.layout()
    return this.#file(searchBucketPath(bits, bucketOf(hash, bits)), readBucket)
  }

  /** Returns a crate for the results; null if it was just removed. */
  async crate(id: number): Promise<FoundCrate | null> {
    const block = await this.#file(searchBlockPath(blockOf(id)), readBlock)
    return block.find(crate => crate.id === id) ?? null
  }

  #file<T>(path: string, read: (text: string) => T, isFresh = false): Promise<T> {
    const cached = this.#files.get(path)
    if (cached) return cached as Promise<T>
    const file = this.#read(path, read, isFresh)
    this.#files.set(path, file)
    file.catch(() => this.#files.delete(path))
    return file
  }

  async #read<T>(path: string, read: (text: string) => T, isFresh: boolean): Promise<T> {
    // Pages have only the URL of the search folder.
    const text = await this.#source.load(path.slice(SEARCH_FOLDER.length + 1), isFresh)
    this.loaded += text.length
    await this.pause()
    return read(text)
  }
}

/** Reads a bucket. */
function readBucket(text: string): Bucket {
  const terms = new Map<string, Postings>()
  const shapes = new Map<number, ListedWord[]>()
  const words: ListedWord[] = []
  for (const [key, ...rest] of JSON.parse(text)) {
    if (typeof key === 'number') shapes.set(key, unpackWords(rest))
    else {
      terms.set(key, rest[0])
      if (isListed(key)) words.push({ word: key, grade: gradeOf(crateCount(rest[0])) })
    }
  }
  return { terms, words, shapes }
}

function unpackWords(packed: readonly (number | string)[]): ListedWord[] {
  let grade = 0
  return packed.flatMap(item => {
    if (typeof item === 'string') return [{ word: item, grade }]
    grade = item
    return []
  })
}

/** Reads a block. */
function readBlock(text: string): FoundCrate[] {
  const crates = JSON.parse(text) as [number, string, string, string, number, string | null][]
  return crates.map(([id, name, newest, text, marks, updatedAt]) => {
    const about = { description: text === '' ? null : text }
    return { id, name, newest, about, yanked: marks % 2 === 1, isDeprecated: marks > 1, updatedAt }
  })
}
