export const SEARCH_FOLDER = 'search'
export const searchPath = `${SEARCH_FOLDER}/index.html`

export const FILTERS = ['keyword', 'category', 'license', 'rust', 'owner'] as const

/** The orders of results; the first is the default. */
export const SORTS = ['relevance', 'name', 'newest', 'dependents'] as const

export type Filter = (typeof FILTERS)[number]
export type Sort = (typeof SORTS)[number]

export interface SearchParameters extends Readonly<Partial<Record<Filter, string>>> {
  readonly q?: string
  readonly sort?: Sort
  readonly page?: number
}

/** Returns the query of the URL of a search, such as `?keyword=json`; empty without parameters. */
export function searchQuery(search: SearchParameters): string {
  const { q, sort, page } = search
  const query = new URLSearchParams()
  if (q) query.set('q', q)
  for (const filter of FILTERS) if (search[filter]) query.set(filter, search[filter])
  if (sort && sort !== SORTS[0]) query.set('sort', sort)
  if (page && page > 1) query.set('page', String(page))
  return query.size === 0 ? '' : `?${query}`
}

/** Path of the file that searches read first; there is none before the others are complete. */
export const searchLayoutPath = `${SEARCH_FOLDER}/layout.json`

export const TERMS_FOLDER = `${SEARCH_FOLDER}/terms`

/** Returns the path of one of 2^`bits` buckets of terms. */
export function searchBucketPath(bits: number, bucket: number): string {
  return `${TERMS_FOLDER}/${bits}/${bucket}.json`
}

/** Returns the path of a column. */
export function searchColumnPath(column: 'ranks' | 'rust'): string {
  return `${SEARCH_FOLDER}/${column}.json`
}

/** Returns the path of a block of crates, as shown in results. */
export function searchBlockPath(block: number): string {
  return `${SEARCH_FOLDER}/crates/${block}.json`
}
