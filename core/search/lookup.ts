import { canonicalName } from '../name-rules.ts'
import { SEARCH_FOLDER, searchBlockPath, searchLayoutPath } from '../paths/search.ts'
import { findCrates, type SearchFiles } from './engine.ts'
import type { Hits } from './hits.ts'
import { BLOCK_CRATES, blockOf } from './layout.ts'
import { type FoundCrate, readBlock } from './read-files.ts'
import { type SearchRequest, searchFor } from './request.ts'

/** Loads the text of a file by its path below `search/`; bypasses caches if `isFresh`. */
export type Load = (path: string, isFresh: boolean) => Promise<string>

export interface SearchResults extends Pick<Hits, 'total' | 'leniency' | 'matched' | 'words'> {
  readonly crates: readonly FoundCrate[]
  /** The number of best crates that were looked at; null for all. */
  readonly considered: number | null
  readonly loaded: number
}

/** Maximum number of files of crates that are loaded for sorting. */
const CONSIDERED = 48

interface LoadedFile {
  readonly text: Promise<string>
  data?: unknown
}

/** A search in a browser, over static files. It loads no file twice. */
export class Lookup implements SearchFiles {
  readonly #load: Load
  readonly #files = new Map<string, LoadedFile>()

  constructor(load: Load) {
    this.#load = load
  }

  async suggest(q: string, limit: number): Promise<readonly FoundCrate[]> {
    return (await this.search(searchFor(q), limit)).crates
  }

  async search(request: SearchRequest, limit: number): Promise<SearchResults> {
    const before = this.#files.get(searchLayoutPath)
    try {
      return await this.#search(request, limit)
    } catch (error) {
      if (before === undefined) throw error
      // The files may be laid out in another way since the layout was read.
      const known = await before.text
      if (this.#files.get(searchLayoutPath) === before) this.#files.clear()
      if ((await this.#text(searchLayoutPath, true)) === known) throw error
      return this.#search(request, limit)
    }
  }

  async load<T>(path: string, read: (text: string) => T): Promise<T> {
    const text = await this.#text(path)
    const file = this.#files.get(path) as LoadedFile
    file.data ??= read(text)
    return file.data as T
  }

  async pause(): Promise<void> {}

  async #search(request: SearchRequest, limit: number): Promise<SearchResults> {
    const { sort, page } = request
    const hits = await findCrates(this, request)
    const { total, leniency, matched, words } = hits
    const offset = (page - 1) * limit
    const isSorted = sort === 'relevance' || sort === 'dependents'
    const ids = isSorted ? hits.slice({ limit, offset }, sort) : considered(hits, sort)
    const crates = (await Promise.all(ids.map(id => this.#crate(id)))).filter(hit => hit !== null)
    let loaded = 0
    for (const { text } of this.#files.values()) loaded += (await text).length
    return {
      ...{ total, leniency, matched, words, loaded },
      crates: isSorted ? crates : inOrder(crates, sort).slice(offset, offset + limit),
      considered: isSorted || ids.length === total ? null : ids.length,
    }
  }

  /** Returns a crate for the results; null if it was just removed. */
  async #crate(id: number): Promise<FoundCrate | null> {
    const block = await this.load(searchBlockPath(blockOf(id)), readBlock)
    return block.find(crate => crate.id === id) ?? null
  }

  #text(path: string, isFresh = false): Promise<string> {
    const known = this.#files.get(path)
    if (known !== undefined) return known.text
    // Pages have only the URL of the search folder.
    const text = this.#load(path.slice(SEARCH_FOLDER.length + 1), isFresh)
    this.#files.set(path, { text })
    text.catch(() => this.#files.delete(path))
    return text
  }
}

/**
 * Returns crates to load for sorting: the best, or the highest ids, which are likely the newest.
 * Without words all are equally good; in a tree from files alone, the first ids belong to the first
 * names.
 */
function considered(hits: Hits, sort: 'name' | 'newest'): readonly number[] {
  const limit = CONSIDERED * BLOCK_CRATES
  const ids =
    sort === 'newest'
      ? hits.slice({ limit, offset: Math.max(0, hits.total - limit) }, 'id').reverse()
      : hits.slice({ limit, offset: 0 }, hits.words === 0 ? 'id' : 'relevance')
  const blocks = new Set<number>()
  const end = ids.findIndex(id => blocks.add(blockOf(id)).size > CONSIDERED)
  return ids.slice(0, end < 0 ? ids.length : end)
}

function inOrder(crates: readonly FoundCrate[], sort: 'name' | 'newest'): FoundCrate[] {
  const byText = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1)
  return crates.toSorted(
    (a, b) =>
      Number(a.yanked) - Number(b.yanked) ||
      (sort === 'newest'
        ? byText(b.updatedAt ?? '', a.updatedAt ?? '') || b.id - a.id
        : byText(canonicalName(a.name), canonicalName(b.name))),
  )
}
