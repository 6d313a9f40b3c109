import { FILTERS, type Filter, type SearchParameters, SORTS, type Sort } from '../paths/search.ts'

export interface SearchRequest {
  readonly q: string
  readonly filters: Readonly<Partial<Record<Filter, string>>>
  readonly sort: Sort
  readonly page: number
}

/** Returns a search for words only, best first. */
export function searchFor(q: string): SearchRequest {
  return { q, filters: {}, sort: SORTS[0], page: 1 }
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
    sort: SORTS.find(known => known === sort) ?? SORTS[0],
    page: page >= 1 && page <= 1_000_000 ? page : 1,
  }
}

const IN_TEXT = new RegExp(`(?<!\\S)(${FILTERS.join('|')}):(\\S+)`, 'g')

/** Returns the parameters of the URL of a search, on another page if one is given. */
export function parametersOf(search: SearchRequest, page = search.page): SearchParameters {
  return { ...search.filters, q: search.q.trim(), sort: search.sort, page }
}

/** Whether a search has neither words nor filters: it finds nothing yet. */
export function isEmptySearch({ q, filters }: SearchRequest): boolean {
  return !/[^\s+]/.test(q) && Object.keys(filters).length === 0
}

/** The highest minor version of Rust that is told from later ones. */
export const RUST_MAX = 120

/**
 * Returns the minor version of a Rust version such as `1.70` or `1.70.0`; `RUST_MAX` for Rust 2;
 * null for anything else. Patch versions do not matter: they do not change the language.
 */
export function rustMinor(version: string | null): number | null {
  const [, major, minor] = /^(\d{1,3})\.(\d{1,5})(?:\.|$)/.exec(version ?? '') ?? []
  if (major === undefined) return null
  return major === '1' ? Math.min(Number(minor), RUST_MAX) : RUST_MAX
}
