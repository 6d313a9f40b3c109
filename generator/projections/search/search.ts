import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { refuse } from '../../../core/error/error.ts'
import { searchLayoutPath } from '../../../core/paths/search.ts'
import { findCrates, type SearchFiles, SearchUnready } from '../../../core/search/engine.ts'
import type { Slice } from '../../../core/search/files/layout.ts'
import type { Hits } from '../../../core/search/hits.ts'
import { isEmptySearch, type SearchRequest } from '../../../core/search/request.ts'
import type { Database } from '../../database/connection.ts'
import { column, LIST, type Queries } from '../../database/statement.ts'
import type { PublicTree } from '../../places/public-tree.ts'
import { crateCount } from '../../records/pages/prefixes.ts'
import { searchVersion } from './layouts.ts'

/** Bytes of the files that are kept in memory, as far as they are known. */
const MAX_BYTES = 32 * 1024 * 1024

/** About so many bytes are in memory for each character of a file. */
const CHARACTER_BYTES = 4

/** Found crates: the ids on this page, and the number on all pages. */
export interface FoundCrates extends Pick<Hits, 'total' | 'leniency' | 'matched' | 'words'> {
  readonly ids: readonly number[]
}

/** What a search without words finds, unless it is narrowed down. */
export const NO_CRATES: FoundCrates = {
  ids: [],
  total: 0,
  leniency: { similar: [], suggested: [], missing: [] },
  matched: 0,
  words: 0,
}

/** Returns a search for words only, best first. */
export function searchFor(q: string): SearchRequest {
  return { q, filters: {}, sort: 'relevance', page: 1 }
}

/** A registry whose crates are searched. */
export interface SearchedRegistry {
  readonly database: Database
  readonly tree: PublicTree
}

/**
 * Searches the files that are rendered (`findCrates`); an empty search finds every crate, by name.
 * Throws `search_unready` before the files are complete for the first time.
 */
export async function searchCrates(
  { database, tree }: SearchedRegistry,
  request: SearchRequest,
  slice: Slice,
): Promise<FoundCrates> {
  const { sort } = request
  if (isEmptySearch(request) && sort === 'relevance') {
    const ids = await column<number>(database, EVERY_CRATE, slice.limit, slice.offset)
    return { ...NO_CRATES, ids, total: await crateCount(database), matched: 1, words: 1 }
  }
  const files = kept.get(database) ?? new KeptFiles(tree)
  kept.set(database, files)
  const hits = await files.search(() => searchVersion(database), request)
  if (hits === null) {
    if ((await crateCount(database)) === 0) return NO_CRATES
    refuse('search_unready')
  }
  const { total, leniency, matched, words } = hits
  const ids =
    sort === 'relevance' ? hits.slice(slice, sort) : await sortedIds(database, hits, sort, slice)
  return { ids, total, leniency, matched, words }
}

const EVERY_CRATE = 'SELECT crate_id FROM listings ORDER BY yanked, canonical LIMIT ? OFFSET ?'

/** The orders besides relevance. All crates of 20,000 are sorted in 9 ms. */
const ORDER_BY = {
  name: 'canonical',
  newest: 'updated_at DESC, crate_id DESC',
  dependents: 'dependents DESC, canonical',
} as const

/** Returns a part of what a search finds in the order of a list; yanked crates come last. */
function sortedIds(
  db: Queries,
  hits: Hits,
  sort: keyof typeof ORDER_BY,
  { limit, offset }: Slice,
): Promise<number[]> {
  const sql = `SELECT crate_id FROM listings WHERE crate_id IN ${LIST}
    ORDER BY yanked, ${ORDER_BY[sort]} LIMIT ? OFFSET ?`
  return column(db, sql, hits.slice({ limit: hits.total, offset: 0 }, 'id'), limit, offset)
}

const kept = new WeakMap<Database, KeptFiles>()

interface Reading {
  readonly path: string
  readonly read: (text: string) => unknown
}

interface KeptFile {
  readonly data: unknown
  readonly size: number
}

/** The search files of a tree, as far as they are in memory. */
class KeptFiles {
  readonly #tree: PublicTree
  /** By the version of the files when they were read, or an earlier one, and their paths. */
  readonly #files = new LRUCache<string, KeptFile, Reading>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ size }) => size,
    fetchMethod: (_key, _before, { context }) => this.#read(context),
    ignoreFetchAbort: true,
  })
  #turn: Promise<unknown> = Promise.resolve()

  constructor(tree: PublicTree) {
    this.#tree = tree
  }

  /** Returns what a search finds; null before the files are complete. */
  async search(version: () => Promise<number>, request: SearchRequest): Promise<Hits | null> {
    try {
      return await findCrates(this.#at(await version()), request)
    } catch (error) {
      if (error instanceof SearchUnready) return null
      // The files may be laid out in another way since the layout was read.
      this.#files.clear()
      return findCrates(this.#at(await version()), request)
    }
  }

  /** Returns the files as they are at a version, or later. */
  #at(version: number): SearchFiles {
    return {
      load: async <T>(path: string, read: (text: string) => T) => {
        const file = await this.#files.fetch(`${version} ${path}`, { context: { path, read } })
        return file?.data as T
      },
      pause: () => this.#pause(),
    }
  }

  async #read({ path, read }: Reading): Promise<KeptFile> {
    const bytes = await this.#tree.read(path)
    if (bytes === null && path === searchLayoutPath) throw new SearchUnready('no layout')
    if (bytes === null) throw new Error(`there is no ${path}`)
    await this.#pause()
    return { data: read(bytes.toString()), size: 1000 + CHARACTER_BYTES * bytes.byteLength }
  }

  /** Lets others have a turn of the event loop; each that waits for one goes on in its own. */
  #pause(): Promise<unknown> {
    this.#turn = this.#turn.then(() => setImmediate())
    return this.#turn
  }
}
