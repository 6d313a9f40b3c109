/** Path of the search page, and folder of the files that its script reads. */
export const SEARCH_FOLDER = 'search'
export const searchPath = `${SEARCH_FOLDER}/index.html`

/** What a search can be narrowed down by. */
export const FILTERS = ['keyword', 'category', 'license', 'rust', 'owner'] as const

/** The orders of results; the first is the default. */
export const SORTS = ['relevance', 'name', 'newest', 'dependents'] as const

export type Filter = (typeof FILTERS)[number]
export type Sort = (typeof SORTS)[number]

/** A search as URL parameters say it, on the page of results and in the API. */
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

/** Path of the file that the browser's search reads first. */
export const searchLayoutPath = `${SEARCH_FOLDER}/layout.json`

/** Folder of the terms that the browser searches. */
export const TERMS_FOLDER = `${SEARCH_FOLDER}/terms`

/** Returns the folder of the terms if they are in 2^`bits` buckets. */
export function searchBucketsFolder(bits: number): string {
  return `${TERMS_FOLDER}/${bits}`
}

/** Returns the path of the terms of one bucket. */
export function searchBucketPath(bits: number, bucket: number): string {
  return `${searchBucketsFolder(bits)}/${bucket}.json`
}

/** Returns the path of what the search shows of a block of crates. */
export function searchBlockPath(block: number): string {
  return `${SEARCH_FOLDER}/crates/${block}.json`
}

/** Returns the path of a shelf of the common terms with this hash. */
export function searchShelfPath(hash: number, shelf: number): string {
  return `${SEARCH_FOLDER}/common/${hash}/${shelf}.json`
}
