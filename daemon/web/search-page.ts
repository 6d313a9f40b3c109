import * as v from 'valibot'
import { type Registry, readCards, searchCrates } from '../../generator/index.ts'
import { searchPage } from '../../site/pages/lists.ts'
import type { OpenHandler } from '../access/route.ts'
import { page } from '../http/page.ts'
import { pageQuery, sliceOf } from '../http/paging.ts'

/** Crates on one page of results: as many as the search of a static site shows at first. */
const PER_PAGE = 30

const resultsQuery = v.object({ q: v.optional(v.string(), ''), page: pageQuery.page })

/** `GET /search/`: results without JavaScript. Static hosts serve a file at the same path. */
export function searchResults({ database, site }: Registry): OpenHandler {
  return async c => {
    const query = v.parse(resultsQuery, c.req.query())
    const text = query.q.replaceAll('+', ' ').trim()
    const slice = sliceOf({ page: query.page, per_page: PER_PAGE })
    const { ids, total } =
      text === '' ? { ids: [], total: 0 } : await searchCrates(database, text, slice)
    const crates = await readCards(database, ids)
    const last = Math.ceil(total / PER_PAGE)
    const data = { query: query.q, crates, total, page: query.page, last }
    return page(c, site, searchPage(site, data))
  }
}
