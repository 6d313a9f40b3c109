import { formatBytes, formatNumber } from '../quantity.ts'
import type { Outcome } from './hits.ts'
import type { Leniency } from './plan.ts'
import { FILTERS, isEmptySearch, type SearchRequest, SORTS } from './request.ts'
import { parseQuery } from './words.ts'

const ORDERS = {
  relevance: '',
  name: 'by name',
  newest: 'newest first',
  dependents: 'most depended on first',
}

/** Returns the headline of the results, with their number, the filters and the order. */
export function headlineOf(request: SearchRequest, outcome: Outcome): string {
  const { total, leniency, matched, words } = outcome
  if (isEmptySearch(request)) return 'Type a name or a few words.'
  const number = total === 0 ? 'No' : formatNumber(total)
  const count = `${number} ${total === 1 ? 'crate' : 'crates'}`
  const q = request.q.trim()
  const filters = FILTERS.flatMap(name =>
    request.filters[name] === undefined ? [] : `${name} ${quoted(request.filters[name])}`,
  )
  const narrowed = filters.length === 0 ? '' : ` with ${filters.join(', ')}`
  const order = request.sort === SORTS[0] ? '' : `, ${ORDERS[request.sort]}`
  // Results for other words have a note that says for which.
  const isOther = leniency.similar.length + leniency.missing.length > 0 || matched < words
  const of = q === '' || (total > 0 && isOther) ? '' : ` for “${q}”`
  return `${count}${of}${narrowed}${order}`
}

/** Characters; with gzip, servers send about 60 kB. */
const MUCH = 160_000

/** Returns sentences about anything a search did beyond finding the given words. */
export function notesOf(outcome: Outcome): string[] {
  const { total, leniency, matched, words, considered, loaded = 0 } = outcome
  if (total === 0) return []
  const notes = leniency.similar.map(
    ({ word, others }) =>
      `No crate matches “${word}”. Showing results for ${others.map(quoted).join(' or ')}.`,
  )
  const { missing } = leniency
  if (missing.length > 0)
    notes.push(
      `No crate matches ${missing.map(quoted).join(' or ')}. Showing results for the other words.`,
    )
  if (matched < words)
    notes.push(
      `No crate matches ${words === 2 ? 'both' : `all ${words}`} words. Showing results for ${matched === 1 ? 'one' : matched} of them.`,
    )
  if (considered)
    notes.push(
      `Only the best ${formatNumber(considered)} crates were looked at; there may be more.`,
    )
  if (loaded > MUCH) notes.push(`Your browser loaded ${formatBytes(loaded)} for this search.`)
  return notes
}

/** Returns the text of a search with words that may have been meant; null if there are none. */
export function betterText(q: string, { suggested }: Leniency): string | null {
  if (suggested.length === 0) return null
  const better = new Map(suggested.map(({ word, others }) => [word, others[0] ?? word]))
  return parseQuery(q)
    .words.map(word => better.get(word) ?? word)
    .join(' ')
}

function quoted(word: string): string {
  return `“${word}”`
}
