import type { Sort } from '../../../core/paths/search.ts'
import type { Slice } from '../../../core/search/files/layout.ts'
import type { Hits } from '../../../core/search/hits.ts'
import { pace } from '../../database/pace.ts'
import { column, LIST, type Queries, value } from '../../database/statement.ts'

/** The orders besides relevance. */
type OtherSort = Exclude<Sort, 'relevance'>

/** Each has an index. */
const ORDER_BY: Readonly<Record<OtherSort, string>> = {
  name: 'canonical',
  newest: 'updated_at DESC, crate_id DESC',
  dependents: 'dependents DESC, canonical',
}

/** Up to this many crates are sorted; of more, the first ones are looked for in an index. */
const SORTED_MAX = 4000

/** Number of rows of an index that are read at once. */
const CHUNK = 5000

/** Returns a part of what a search finds in the order of a list; yanked crates come last. */
export async function sortedIds(
  db: Queries,
  hits: Hits,
  sort: OtherSort,
  { limit, offset }: Slice,
): Promise<number[]> {
  if (hits.total <= SORTED_MAX) {
    const text = `SELECT crate_id FROM listings WHERE crate_id IN ${LIST}
      ORDER BY yanked, ${ORDER_BY[sort]} LIMIT ? OFFSET ?`
    const all = hits.slice({ limit: SORTED_MAX, offset: 0 }, 'id')
    return column(db, text, all, limit, offset)
  }
  const text = `SELECT json_group_array(crate_id) FROM
    (SELECT crate_id FROM listings ORDER BY ${ORDER_BY[sort]} LIMIT ${CHUNK} OFFSET ?) AS chunk`
  const [ids, yanked]: [number[], number[]] = [[], []]
  for (let read = 0; ids.length < offset + limit; read += CHUNK) {
    const chunk = JSON.parse((await value<string>(db, text, read)) ?? '[]') as number[]
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
