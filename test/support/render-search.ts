import type { SearchRequest } from '../../core/search/request.ts'
import { buildPages } from '../../generator/pages/pages.ts'
import type { Registry } from '../../generator/registry/registry.ts'

/** Derives and renders the search files of all changes so far, and nothing else. */
export async function renderSearch(registry: Registry): Promise<void> {
  const { issues } = await buildPages(registry, { kinds: ['search'] })
  if (issues.length > 0) throw new Error(JSON.stringify(issues))
}

/** Returns a search for words only, best first. */
export function searchFor(q: string): SearchRequest {
  return { q, filters: {}, sort: 'relevance', page: 1 }
}
