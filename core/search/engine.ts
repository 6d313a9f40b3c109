import type { SearchFiles } from './files.ts'
import { Hits } from './hits.ts'
import { SEARCH_FORMAT } from './layout.ts'
import { Terms } from './plan.ts'
import { eachPosting } from './postings.ts'
import { isEmptySearch, rustMinor, type SearchRequest } from './request.ts'
import { filterTerms, RUST, TERM_FILTERS } from './terms.ts'
import { parseQuery } from './words.ts'

/**
 * Searches the crates. Every word must occur in the name, the keywords, or the description, or
 * begin one of their words, or be an inflection of it. The exact name comes first, then the rest by
 * where the words occur, by dependents, and by the length of the name; crates with only yanked
 * versions come last. A word that no crate has is replaced by similar words; if no crate has all
 * words, crates with the most of them are found. Without words, the filters decide.
 */
export async function findCrates(files: SearchFiles, request: SearchRequest): Promise<Hits> {
  const { q } = request
  const { words, key } = parseQuery(q)
  const { format } = await files.layout()
  if (format !== SEARCH_FORMAT) throw new Error(`search files have the format ${format}`)
  const ranks = isEmptySearch(request) ? NONE : await files.ranks()
  const terms = new Terms(files, ranks.length)
  const plan = await terms.plan(words)
  const isVain = plan.words.length === 0 && /[^\s+]/.test(q)
  const kept = isVain ? NONE : await keptBy(request, terms, ranks)
  await files.pause()
  const exact = new Set<number>()
  if (key !== null) eachPosting(await terms.postings(key), id => exact.add(id))
  const hits = new Hits(kept, plan, exact)
  await files.pause()
  return hits
}

const NONE = new Uint8Array()

/** Returns the ranks of the crates that the filters keep. */
async function keptBy(
  { filters }: SearchRequest,
  terms: Terms,
  ranks: Uint8Array,
): Promise<Uint8Array> {
  let kept = ranks
  for (const filter of TERM_FILTERS) {
    for (const term of filterTerms(filter, filters[filter] ?? '')) {
      const having = new Uint8Array(ranks.length)
      const before = kept
      eachPosting(await terms.postings(term), id => {
        having[id] = before[id] ?? 0
      })
      kept = having
    }
  }
  const minor = rustMinor(filters.rust ?? null)
  if (minor === null) return kept
  const fitting = kept.slice()
  eachPosting(await terms.postings(RUST), (id, needed) => {
    if (needed > minor) fitting[id] = 0
  })
  return fitting
}
