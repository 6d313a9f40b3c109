import type { Context } from 'hono'
import * as v from 'valibot'
import { canonicalName, isName } from '../../core/name.ts'
import { readSearch, type Sort } from '../../core/search/request.ts'
import { searchFresh } from '../../generator/fresh-search.ts'
import { isNamed, readCards } from '../../generator/records/pages/cards.ts'
import type { Deps } from '../deps.ts'
import { answer } from '../http/answer.ts'
import { metaOf, sliceOf } from '../http/paging.ts'
import { viewsOf } from './lookup.ts'
import { type searchAnswer, searchQuery } from './search-schema.ts'

/** The names that clients of crates.io have for orders. */
const OTHER_SORTS: ReadonlyMap<string, Sort> = new Map([
  ['alpha', 'name'],
  ['new', 'newest'],
  ['recent-updates', 'newest'],
])

/** `GET /api/v1/crates`: crates in the order of `searchFresh`; `meta.total` counts all of them. */
export async function search({ registry }: Deps, c: Context) {
  const { site } = registry
  const query = v.parse(searchQuery, c.req.query())
  const read = readSearch(name => c.req.query(name), site.owners)
  const request = { ...read, sort: OTHER_SORTS.get(query.sort ?? '') ?? read.sort }
  const text = request.q.replaceAll('+', ' ').trim()
  const results = await searchFresh(registry, request, sliceOf(query))
  const { ids, total, leniency, matched, words } = results
  const cards = await readCards(registry.database, ids)
  const exact = isName(text) ? canonicalName(text) : null
  const views = await viewsOf(registry, cards, card => exact !== null && isNamed(card, exact))
  const crates = views.map(view => ({ ...view, description: view.description ?? '' }))
  const counts = { ...metaOf(c.req.url, query, total), words, matched_words: matched }
  return answer<typeof searchAnswer>(c, { crates, meta: { ...counts, ...leniency } })
}
