import { refuse } from '../../../core/error/error.ts'
import { SEARCH_FOLDER, searchLayoutPath } from '../../../core/paths/search.ts'
import type { Hits, Outcome } from '../../../core/search/hits.ts'
import { SEARCH_FORMAT, type Slice } from '../../../core/search/layout.ts'
import { Lookup } from '../../../core/search/lookup.ts'
import { isEmptySearch, type SearchRequest } from '../../../core/search/request.ts'
import type { Database } from '../../database/connection.ts'
import { pace } from '../../database/pace.ts'
import { column, LIST, type Queries, value } from '../../database/statement.ts'
import type { PublicTree } from '../../places/public-tree.ts'
import type { PageContext } from '../context.ts'
import { readState } from './files.ts'

/** Characters of files that are kept in memory, where each takes about 4 bytes. */
const MOST_LOADED = 8 * 1024 * 1024

/** Found crates: the ids on this page, and what is said of all pages. */
export interface FoundCrates extends Outcome {
  readonly ids: readonly number[]
}

/** No crates: the result of a search without words and filters. */
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
  const { layout, crates: total, version } = await readState(database)
  // A registry without crates may have no files.
  if (total === 0) return NO_CRATES
  if (isEmptySearch(request)) {
    const ids = await column<number>(database, EVERY_CRATE, slice.limit, slice.offset)
    return { ...NO_CRATES, ids, total, matched: 1, words: 1 }
  }
  if (layout?.format !== SEARCH_FORMAT) refuse('search_unready')
  const hits = await lookupIn(tree, database, version).find(request)
  const { sort } = request
  if (sort === 'relevance') return { ...hits.outcome, ids: hits.slice(slice, sort) }
  return { ...hits.outcome, ids: await sortedIds(database, hits, sort, slice) }
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

const CHUNK = 5000

/** Returns a part of what a search finds in the order of a list; yanked crates come last. */
async function sortedIds(
  db: Queries,
  hits: Hits,
  sort: keyof typeof ORDER_BY,
  { limit, offset }: Slice,
): Promise<number[]> {
  const { total } = hits.outcome
  if (total <= SORTED_MAX) {
    const sql = `SELECT crate_id FROM listings WHERE crate_id IN ${LIST}
      ORDER BY yanked, ${ORDER_BY[sort]} LIMIT ? OFFSET ?`
    return column(db, sql, hits.slice({ limit: total, offset: 0 }, 'id'), limit, offset)
  }
  const sql = `SELECT json_group_array(crate_id) FROM
    (SELECT crate_id FROM listings ORDER BY ${ORDER_BY[sort]} LIMIT ${CHUNK} OFFSET ?) AS chunk`
  const [ids, yanked]: [number[], number[]] = [[], []]
  for (let read = 0; ids.length < offset + limit; read += CHUNK) {
    const chunk: number[] = JSON.parse((await value<string>(db, sql, read)) ?? '[]')
    if (chunk.length === 0) break
    for (const id of chunk) {
      const isYanked = hits.isYanked(id)
      if (isYanked !== null) (isYanked ? yanked : ids).push(id)
    }
    // Late pages read much of the index: other requests go on in between.
    await pace()
  }
  return [...ids, ...yanked].slice(offset, offset + limit)
}

const lookups = new WeakMap<Database, { readonly version: number; readonly lookup: Lookup }>()

/** Returns the search with its files as they are at a version, or later. */
function lookupIn(tree: PublicTree, database: Database, version: number): Lookup {
  const current = lookups.get(database)
  if (current && current.version >= version && current.lookup.loaded < MOST_LOADED)
    return current.lookup
  const lookup = new Lookup({ load: path => load(tree, `${SEARCH_FOLDER}/${path}`), pause: pace })
  lookups.set(database, { version, lookup })
  return lookup
}

async function load(tree: PublicTree, path: string): Promise<string> {
  const bytes = await tree.read(path)
  if (bytes === null && path === searchLayoutPath) refuse('search_unready')
  if (bytes === null) throw new Error(`there is no ${path}`)
  return bytes.toString()
}
