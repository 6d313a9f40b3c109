import * as v from 'valibot'
import {
  canonicalName,
  isName,
  isNamed,
  type Registry,
  readCards,
  searchCrates,
} from '../../generator/index.ts'
import type { OpenHandler } from '../access/route.ts'
import { answer } from '../http/answer.ts'
import { metaOf, pageMeta, pageQuery, sliceOf } from '../http/paging.ts'
import { crateShape, crateView } from './schema/crate.ts'

/** The query of `cargo search` (specification section 4); a `+` separates words. */
export const searchQuery = v.object({ q: v.optional(v.string(), ''), ...pageQuery })

export const searchAnswer = v.object({ crates: v.array(crateShape), meta: pageMeta })

/** `GET /api/v1/crates`: crates in the order of `searchCrates`; `meta.total` counts all of them. */
export function search({ database }: Registry): OpenHandler {
  return async c => {
    const query = v.parse(searchQuery, c.req.query())
    const text = query.q.replaceAll('+', ' ').trim()
    const { ids, total } = await searchCrates(database, text, sliceOf(query))
    const exact = isName(text) ? canonicalName(text) : null
    const crates = (await readCards(database, ids)).map(card =>
      crateView(card, { exact: exact !== null && isNamed(card, exact) }),
    )
    return answer<typeof searchAnswer>(c, { crates, meta: metaOf(c.req.url, query, total) })
  }
}
