import type { SearchEntry } from './entry.ts'
import { canonical, queryWords, tellingWords, words } from './words.ts'

/** How well a crate fits a query; the lower the better. */
export const EXACT = 0
export const PREFIX = 1
export const IN_NAME = 2
export const IN_KEYWORDS = 3
export const IN_DESCRIPTION = 4

/** A query, taken apart once. */
export interface Query {
  readonly canonical: string
  readonly words: readonly string[]
}

/** Takes a query apart. */
export function parseQuery(text: string): Query {
  return { canonical: canonical(text), words: queryWords(text) }
}

/** How well a crate fits: its whole name, the beginning of it, or every word somewhere; null when it does not. */
export function fit(query: Query, entry: SearchEntry): number | null {
  const name = canonical(entry.name)
  if (query.canonical === '') return null
  if (name === query.canonical) return EXACT
  if (name.startsWith(query.canonical)) return PREFIX
  if (query.words.length === 0) return null
  const fields = entryWords(entry)
  let worst = IN_NAME
  for (const word of query.words) {
    const best = fields.find(([, list]) => list.some(one => one.startsWith(word)))
    if (best === undefined) return null
    worst = Math.max(worst, best[0])
  }
  return worst
}

/** The words a crate is found by, with what each is worth, best first. */
export function entryWords(entry: SearchEntry): [worth: number, words: string[]][] {
  return [
    [IN_NAME, words(entry.name)],
    [IN_KEYWORDS, words(entry.keywords.join(' '))],
    [IN_DESCRIPTION, tellingWords(entry.description)],
  ]
}

/** Order of results: crates that can be used, the better fit, the shorter name, the alphabet. */
export function compare(a: { entry: SearchEntry; fit: number }, b: { entry: SearchEntry; fit: number }): number {
  return Number(a.entry.yanked) - Number(b.entry.yanked) || a.fit - b.fit || compareNames(a.entry.name, b.entry.name)
}

/** The shorter name first, then the alphabet. */
export function compareNames(a: string, b: string): number {
  return a.length - b.length || (canonical(a) < canonical(b) ? -1 : canonical(a) > canonical(b) ? 1 : 0)
}

/** The crates that fit, best first. */
export function rank(query: Query, entries: Iterable<SearchEntry>): SearchEntry[] {
  const found: { entry: SearchEntry; fit: number }[] = []
  for (const entry of entries) {
    const how = fit(query, entry)
    if (how !== null) found.push({ entry, fit: how })
  }
  return found.sort(compare).map(one => one.entry)
}
