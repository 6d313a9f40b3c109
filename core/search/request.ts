// core/search: The one search of daemon and browser, over files that its caller reads. It never
// fetches or keeps any.

export const FILTERS = ['keyword', 'category', 'license', 'rust', 'owner', 'advisory'] as const

/** The orders of results; the first is the default. */
export const SORTS = ['relevance', 'name', 'newest', 'dependents'] as const

export type Filter = (typeof FILTERS)[number]
export type Sort = (typeof SORTS)[number]

export interface SearchRequest {
  readonly q: string
  readonly filters: Readonly<Partial<Record<Filter, string>>>
  readonly sort: Sort
  readonly page: number
}

/** The crates on a page of results. */
export const RESULTS_SHOWN = 20

const FILTER_MAX = 100

/**
 * Reads a search from URL parameters. Its text may contain filters, too: `json keyword:parser`.
 * Parameters that make no sense are ignored: a search has no errors. `knowsOwners`: whether the
 * reader may see who owns a crate.
 */
export function readSearch(
  of: (name: string) => string | null | undefined,
  knowsOwners = true,
): SearchRequest {
  const filters: Partial<Record<Filter, string>> = {}
  const put = (filter: Filter, value: string) => {
    const text = value.slice(0, FILTER_MAX).trim()
    if (text === '' || (filter === 'owner' && !knowsOwners)) return
    if (filter !== 'rust' || rustMinor(text) !== null) filters[filter] = text
  }
  const asked = (of('q') ?? '').slice(0, 1000)
  const q = asked.replace(IN_TEXT, (_, filter: Filter, value: string) => {
    put(filter, value)
    return ' '
  })
  for (const filter of FILTERS) put(filter, of(filter) ?? '')
  const sort = of('sort')
  const page = Math.floor(Number(of('page')))
  return {
    q: q === asked ? asked : q.trim(),
    filters,
    sort: SORTS.find(accepted => accepted === sort) ?? SORTS[0],
    page: page >= 1 && page <= 1_000_000 ? page : 1,
  }
}

const IN_TEXT = new RegExp(`(?<!\\S)(${FILTERS.join('|')}):(\\S+)`, 'g')

/** Returns the query of the URL of a search, such as `?keyword=json`; empty without parameters. */
export function searchQuery({
  q = '',
  filters = {},
  sort,
  page = 1,
}: Partial<SearchRequest>): string {
  const query = new URLSearchParams()
  if (q.trim() !== '') query.set('q', q.trim())
  for (const filter of FILTERS) if (filters[filter]) query.set(filter, filters[filter])
  if (sort && sort !== SORTS[0]) query.set('sort', sort)
  if (page > 1) query.set('page', String(page))
  return query.size === 0 ? '' : `?${query}`
}

/** Whether a search has no words, no filters and no order: it finds nothing yet. */
export function isEmptySearch({ q, filters, sort }: SearchRequest): boolean {
  return !/[^\s+]/.test(q) && Object.keys(filters).length === 0 && sort === SORTS[0]
}

/** The highest minor version of Rust that is told from later ones. */
const RUST_MAX = 120

/**
 * Returns the minor version of a Rust version such as `1.70` or `1.70.0`; `RUST_MAX` for Rust 2;
 * null for anything else. Patch versions do not matter: they do not change the language.
 */
export function rustMinor(version: string | null): number | null {
  const [, major, minor] = /^(\d{1,3})\.(\d{1,5})(?:\.|$)/.exec(version ?? '') ?? []
  if (major === undefined) return null
  return major === '1' ? Math.min(Number(minor), RUST_MAX) : RUST_MAX
}
