import { canonicalName } from '../name-rules.ts'
import { type FoundCrate, SearchFiles } from './files.ts'
import { Hits, type Outcome } from './hits.ts'
import { BLOCK_CRATES, blockOf, SEARCH_FORMAT } from './layout.ts'
import { Terms } from './plan.ts'
import { eachPosting } from './postings.ts'
import { isEmptySearch, rustMinor, type SearchRequest, SORTS } from './request.ts'
import { filterTerms, RUST, TERM_FILTERS } from './terms.ts'
import { parseQuery } from './words.ts'

export interface SearchResults extends Outcome {
  readonly crates: readonly FoundCrate[]
}

/** Maximum number of files of crates that are loaded for sorting. */
const CONSIDERED = 60

const NONE = new Uint8Array()

/** The one search, over files which may be laid out in another way meanwhile. */
export class Lookup extends SearchFiles {
  /**
   * Searches the crates. Every word must occur in the name, the keywords, or the description, or
   * begin one of their words, or be an inflection of it, or be in what counts a little: the first
   * paragraphs of the README, a category, an owner. The exact name comes first, then the rest by
   * where the words occur and by dependents together, then by the length of the name; crates with
   * only yanked versions come last. A word that no crate has is replaced by similar words; if no
   * crate has all words, crates with the most of them are found. Without words, the filters decide.
   */
  async find(request: SearchRequest): Promise<Hits> {
    try {
      return await this.#find(request)
    } catch (error) {
      if (await this.hasSameLayout()) throw error
      return this.#find(request)
    }
  }

  /** Returns the best crates for some words. */
  async suggest(q: string, limit: number): Promise<readonly FoundCrate[]> {
    return (await this.search({ q, filters: {}, sort: SORTS[0], page: 1 }, limit)).crates
  }

  /** Returns a page of results, in the best order that the files allow. */
  async search(request: SearchRequest, limit: number): Promise<SearchResults> {
    const { sort, page } = request
    const hits = await this.find(request)
    const offset = (page - 1) * limit
    const isSorted = sort === 'relevance' || sort === 'dependents'
    const ids = isSorted ? hits.slice({ limit, offset }, sort) : considered(hits, sort)
    const lookedUp = await Promise.all(ids.map(id => this.crate(id)))
    const crates = lookedUp.filter(crate => crate !== null)
    const outcome = { ...hits.outcome, loaded: this.loaded }
    if (isSorted) return { ...outcome, crates }
    const shown = inOrder(crates, sort).slice(offset, offset + limit)
    return { ...outcome, crates: shown, considered: ids.length < outcome.total ? ids.length : null }
  }

  async #find(request: SearchRequest): Promise<Hits> {
    const { q } = request
    const { words, key } = parseQuery(q)
    const { format } = await this.layout()
    if (format !== SEARCH_FORMAT) throw new Error(`search files have the format ${format}`)
    const ranks = isEmptySearch(request) ? NONE : await this.ranks()
    const terms = new Terms(this, ranks.length)
    const plan = await terms.plan(words)
    const isVain = plan.words.length === 0 && /[^\s+]/.test(q)
    const kept = isVain ? NONE : await keptBy(request, terms, ranks)
    await this.pause()
    const exact = new Set<number>()
    if (key !== null) eachPosting(await terms.postings(key), id => exact.add(id))
    const hits = new Hits(kept, plan, exact)
    await this.pause()
    return hits
  }
}

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

/**
 * Returns crates to load for sorting: the best, or the highest ids, which are likely the newest.
 * Without words all are equally good.
 */
function considered(hits: Hits, sort: 'name' | 'newest'): readonly number[] {
  const limit = CONSIDERED * BLOCK_CRATES
  const ids =
    sort === 'newest'
      ? hits.slice({ limit, offset: Math.max(0, hits.outcome.total - limit) }, 'id').reverse()
      : hits.slice({ limit, offset: 0 }, hits.outcome.words === 0 ? 'id' : 'relevance')
  const blocks = new Set<number>()
  return ids.filter(id => blocks.add(blockOf(id)).size <= CONSIDERED)
}

function inOrder(crates: readonly FoundCrate[], sort: 'name' | 'newest'): FoundCrate[] {
  const byText = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1)
  return crates.toSorted(
    (a, b) =>
      Number(a.yanked) - Number(b.yanked) ||
      (sort === 'newest'
        ? byText(b.updatedAt ?? '', a.updatedAt ?? '') || b.id - a.id
        : byText(canonicalName(a.name), canonicalName(b.name))),
  )
}
