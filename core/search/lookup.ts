import { canonicalName } from '../name-rules.ts'
import { findCrates } from './engine.ts'
import { type FoundCrate, SearchFiles } from './files.ts'
import type { Hits, Outcome } from './hits.ts'
import { BLOCK_CRATES, blockOf } from './layout.ts'
import { type SearchRequest, SORTS } from './request.ts'

export interface SearchResults extends Outcome {
  readonly crates: readonly FoundCrate[]
}

/** Maximum number of files of crates that are loaded for sorting. */
const CONSIDERED = 48

/** A search over files, which may be laid out in another way meanwhile. */
export class Lookup extends SearchFiles {
  async find(request: SearchRequest): Promise<Hits> {
    try {
      return await findCrates(this, request)
    } catch (error) {
      if (await this.hasSameLayout()) throw error
      return findCrates(this, request)
    }
  }

  /** Returns the best crates for some words. */
  async suggest(q: string, limit: number): Promise<readonly FoundCrate[]> {
    return (await this.search({ q, filters: {}, sort: SORTS[0], page: 1 }, limit)).crates
  }

  /** Returns a page of what is found, in an order that is as good as files allow. */
  async search(request: SearchRequest, limit: number): Promise<SearchResults> {
    const { sort, page } = request
    const hits = await this.find(request)
    const offset = (page - 1) * limit
    const isSorted = sort === 'relevance' || sort === 'dependents'
    const ids = isSorted ? hits.slice({ limit, offset }, sort) : considered(hits, sort)
    const found = await Promise.all(ids.map(id => this.crate(id)))
    const crates = found.filter(crate => crate !== null)
    const outcome = { ...hits.outcome, loaded: this.loaded }
    if (isSorted) return { ...outcome, crates }
    const shown = inOrder(crates, sort).slice(offset, offset + limit)
    return { ...outcome, crates: shown, considered: ids.length < outcome.total ? ids.length : null }
  }
}

/**
 * Returns crates to load for sorting: the best, or the highest ids, which are likely the newest.
 * Without words all are equally good; in a tree from files alone, the first ids belong to the first
 * names.
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
