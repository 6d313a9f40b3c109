import type { Context } from 'hono'
import { isEmptySearch, RESULTS_SHOWN, readSearch } from '../../core/search/request.ts'
import { searchFresh } from '../../generator/fresh-search.ts'
import { NO_CRATES } from '../../generator/projections/search/search.ts'
import { readCards } from '../../generator/records/pages/cards.ts'
import { searchPage } from '../../site/pages/search.ts'
import type { Deps } from '../deps.ts'
import { page } from '../http/page.ts'
import { sliceOf } from '../http/paging.ts'

/** `GET /search/`: results without JavaScript. Static hosts serve a file at the same path. */
export async function searchResults({ registry }: Deps, c: Context) {
  const { database, site } = registry
  const request = readSearch(name => c.req.query(name), site.owners)
  const slice = sliceOf({ page: request.page, per_page: RESULTS_SHOWN })
  const outcome = isEmptySearch(request) ? NO_CRATES : await searchFresh(registry, request, slice)
  const crates = await readCards(database, outcome.ids)
  const last = Math.ceil(outcome.total / RESULTS_SHOWN)
  return page(c, site, searchPage(site, { request, outcome, crates, page: request.page, last }))
}
