import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { refuse } from '../../../core/error/error.ts'
import { searchLayoutPath } from '../../../core/paths/search.ts'
import { findCrates, type SearchFiles, SearchUnready } from '../../../core/search/engine.ts'
import type { Hits } from '../../../core/search/hits.ts'
import type { Slice } from '../../../core/search/layout.ts'
import { isEmptySearch, type SearchRequest } from '../../../core/search/request.ts'
import type { Database } from '../../database/connection.ts'
import { pace } from '../../database/pace.ts'
import { column, LIST, type Queries, value } from '../../database/statement.ts'
import type { PublicTree } from '../../places/public-tree.ts'
import { crateCount } from '../../records/pages/prefixes.ts'
import type { PageContext } from '../context.ts'
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

/**
 * Searches the files that are rendered (`findCrates`); an empty search finds every crate, by name.
 * Throws `search_unready` before the files are complete for the first time.
 */
export async function searchCrates(
  { database, tree }: Pick<PageContext, 'database' | 'tree'>,
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

/** The orders besides relevance, each with an index. */
const ORDER_BY = {
  name: 'canonical',
  newest: 'updated_at DESC, crate_id DESC',
  dependents: 'dependents DESC, canonical',
} as const

/** Up to this many crates are sorted; of more, the first ones are looked for in an index. */
const SORTED_MAX = 4000

/** Number of rows of an index that are read at once. */
const CHUNK = 5000

/** Returns a part of what a search finds in the order of a list; yanked crates come last. */
async function sortedIds(
  db: Queries,
  hits: Hits,
  sort: keyof typeof ORDER_BY,
  { limit, offset }: Slice,
): Promise<number[]> {
  if (hits.total <= SORTED_MAX) {
    const sql = `SELECT crate_id FROM listings WHERE crate_id IN ${LIST}
      ORDER BY yanked, ${ORDER_BY[sort]} LIMIT ? OFFSET ?`
    const all = hits.slice({ limit: SORTED_MAX, offset: 0 }, 'id')
    return column(db, sql, all, limit, offset)
  }
  const sql = `SELECT json_group_array(crate_id) FROM
    (SELECT crate_id FROM listings ORDER BY ${ORDER_BY[sort]} LIMIT ${CHUNK} OFFSET ?) AS chunk`
  const [ids, yanked]: [number[], number[]] = [[], []]
  for (let read = 0; ids.length < offset + limit; read += CHUNK) {
    const chunk = JSON.parse((await value<string>(db, sql, read)) ?? '[]') as number[]
    if (chunk.length === 0) break
    for (const id of chunk) {
      const isFound = hits.has(id)
      if (isFound !== false) (isFound === null ? yanked : ids).push(id)
    }
    // Late pages read much of the index: other requests go on in between.
    await pace()
  }
  return [...ids, ...yanked].slice(offset, offset + limit)
}

const kept = new WeakMap<Database, KeptFiles>()

interface KeptFile {
  readonly data: unknown
  readonly size: number
}

interface Wanted {
  readonly path: string
  readonly read: (text: string) => unknown
}

/** The search files of a tree, as far as they are in memory. */
class KeptFiles {
  /** The files by the version of all of them, and their paths. */
  readonly #files: LRUCache<string, KeptFile, Wanted>
  #turn: Promise<unknown> = Promise.resolve()

  constructor(tree: PublicTree) {
    this.#files = new LRUCache<string, KeptFile, Wanted>({
      maxSize: MAX_BYTES,
      sizeCalculation: ({ size }) => size,
      ignoreFetchAbort: true,
      fetchMethod: (_key, _stale, { context: { path, read } }) => this.#read(tree, path, read),
    })
  }

  /** Returns what a search finds; null before the files are complete. */
  async search(version: () => Promise<number>, request: SearchRequest): Promise<Hits | null> {
    try {
      return await findCrates(this.#at(await version()), request)
    } catch (error) {
      if (error instanceof SearchUnready) return null
      // The files may be laid out in another way since the layout was read.
      const now = await version()
      this.#files.delete(`${now} ${searchLayoutPath}`)
      return findCrates(this.#at(now), request)
    }
  }

  /** Returns the files as they are at a version, or later. */
  #at(version: number): SearchFiles {
    return {
      load: async <T>(path: string, read: (text: string) => T) => {
        const context = { path, read }
        return (await this.#files.forceFetch(`${version} ${path}`, { context })).data as T
      },
      pause: () => this.#pause(),
    }
  }

  async #read(tree: PublicTree, path: string, read: Wanted['read']): Promise<KeptFile> {
    const bytes = await tree.read(path)
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
