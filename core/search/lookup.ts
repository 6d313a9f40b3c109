import { canonicalName } from '../name-rules.ts'
import { POSTINGS_FIRST, SEARCH_BLOCK_CRATES } from './buckets.ts'
import { type FoundCrate, type Load, SearchFiles } from './files.ts'
import {
  type Hit,
  hitsOf,
  inBlocks,
  isCommon,
  isYanked,
  mostHits,
  ranksOf,
  sizeOf,
  type WordHits,
} from './hits.ts'
import { type Leniency, planSearch, rarestOf, type Variant } from './plan.ts'
import { isEmptySearch, rustMinor, type SearchRequest } from './request.ts'
import { shelfOf } from './score.ts'
import { filterTerm, TERM_FILTERS } from './terms.ts'
import { parseQuery } from './words.ts'

/** A page of the results of a search. */
export interface SearchResults {
  readonly crates: readonly FoundCrate[]
  /** The number of crates on all pages; there may be more if `isLeast`. */
  readonly total: number
  readonly isLeast: boolean
  /** How many of the best crates were looked at, if not all: more would be too much to load. */
  readonly considered: number | null
  readonly leniency: Leniency
  /** How many words each of the crates has, of how many that any crate has. */
  readonly matched: number
  readonly words: number
}

/** The hits of a search, in order. */
interface Found extends Pick<SearchResults, 'total' | 'isLeast' | 'considered'> {
  readonly hits: readonly Hit[]
}

/** Maximum number of files of crates that are loaded to sort and filter by what they say. */
const CONSIDERED = 48

/** The bytes that a file of crates, and a crate in a shelf, are assumed to have. */
const BLOCK_SIZE = 1800
const CRATE_SIZE = 3

/** The bytes that are kept for the crates of a page of results. */
const RESERVED = 20 * BLOCK_SIZE

/** A search over static files, with the same results as the API. It loads no file twice. */
export class Lookup {
  readonly #files: SearchFiles

  constructor(load: Load) {
    this.#files = new SearchFiles(load)
  }

  /** Returns the first crates for a text, at most `limit`; loads less than `search`. */
  async suggest(q: string, limit: number): Promise<readonly FoundCrate[]> {
    const { words, key } = parseQuery(q)
    if (words.length === 0) return []
    this.#files.begin(words)
    // Crates with the words themselves come before those with similar ones.
    const same = await Promise.all(words.map(term => this.#exact(term)))
    const { hits } = await this.#every(same, key, limit)
    const sure = hits.filter(hit => !isYanked(hit))
    if (sure.length >= limit) return this.#crates(sure.slice(0, limit))
    return (await this.#search({ q, filters: {}, sort: 'relevance', page: 1 }, limit)).crates
  }

  /** Returns a page of `limit` crates. */
  search(request: SearchRequest, limit: number): Promise<SearchResults> {
    this.#files.begin(parseQuery(request.q).words)
    return this.#search(request, limit)
  }

  async #search(request: SearchRequest, limit: number): Promise<SearchResults> {
    const { q, filters, sort, page } = request
    const { words, key } = parseQuery(q)
    const masks = TERM_FILTERS.flatMap(one => {
      const text = filters[one]
      return text === undefined ? [] : [filterTerm(one, text)]
    })
    const [plan, ...narrow] = await Promise.all([
      planSearch(words, this.#files),
      ...masks.map(term => this.#exact(term)),
    ])
    const counts = { leniency: plan, matched: plan.words.length, words: plan.words.length }
    const isBlank = isEmptySearch(request) && sort === 'relevance'
    const isVain = isBlank || (plan.words.length === 0 && /[^\s+]/.test(q))
    if (isVain) return { crates: [], total: 0, isLeast: false, considered: null, ...counts }
    const own = await Promise.all(plan.words.map(one => this.#hits(one.variants)))
    const enough = page * limit
    const all = [...own, ...narrow]
    let found = await (all.length > 0 ? this.#every(all, key, enough) : this.#any(sort))
    if (found.total === 0 && own.length > 1) {
      const most = await this.#most(own, narrow, rarestOf(plan.words), enough)
      counts.matched = most.matched
      found = most
    }
    const start = enough - limit
    const { hits, ...sums } = found
    if (sort === 'relevance' && filters.rust === undefined && filters.owner === undefined)
      return { ...sums, ...counts, crates: await this.#crates(hits.slice(start, enough)) }
    const affordable = Math.floor(this.#files.left / BLOCK_SIZE)
    const some = inBlocks(hits, Math.max(1, Math.min(CONSIDERED, affordable)))
    const kept = narrowed(await this.#crates(some), request)
    const isPart = sums.isLeast || some.length < sums.total
    const crates = kept.slice(start, enough)
    const considered = isPart ? some.length : null
    return { ...counts, crates, total: kept.length, isLeast: false, considered }
  }

  /** Returns the crates that all words find. */
  async #every(words: readonly WordHits[], key: string | null, enough: number): Promise<Found> {
    const [word] = words
    const isSimple = word && words.length === 1 && key === null
    if (isSimple && (!isCommon(word) || enough <= POSTINGS_FIRST))
      return { hits: hitsOf(words), ...sizeOf(word), considered: null }
    const exact = key === null ? undefined : (await this.#files.term(key)).ranks
    const rare = words.filter(one => !isCommon(one))
    const base = rare.length === 0 ? null : hitsOf(rare)
    const { filled, isWhole, shelves } = await this.#filled(words, base)
    const hits = hitsOf(filled, exact)
    const least = Math.min(...filled.map(one => ranksOf(one).size))
    const seen = base ? base.filter(one => shelves.has(shelfOf(one.id, one.rank))).length : least
    const sums = isSimple ? sizeOf(word) : { total: hits.length, isLeast: !isWhole }
    return { hits, ...sums, considered: isWhole ? null : seen }
  }

  /** Returns the crates that the most words find. */
  async #most(
    words: readonly WordHits[],
    masks: readonly WordHits[],
    rarest: number,
    enough: number,
  ): Promise<Found & Pick<SearchResults, 'matched'>> {
    // No crate has both of two words, so the first crates of each are enough.
    if (words.length === 2 && masks.length === 0 && enough <= POSTINGS_FIRST) {
      const total = words.reduce((sum, one) => sum + sizeOf(one).total, 0)
      const found = mostHits(words, [], words[rarest])
      return { ...found, total, isLeast: words.some(isCommon), considered: null }
    }
    const { filled, isWhole } = await this.#filled([...words, ...masks], null)
    const [own, narrow] = [filled.slice(0, words.length), filled.slice(words.length)]
    const found = mostHits(own, narrow, own[rarest])
    const total = found.hits.length
    return { ...found, total, isLeast: !isWhole, considered: isWhole ? null : total }
  }

  /** Returns all crates, or as many of them as can be sorted. */
  async #any(sort: SearchRequest['sort']): Promise<Found> {
    const { crates, last } = await this.#files.layout()
    const length = Math.min(last, (CONSIDERED + 1) * SEARCH_BLOCK_CRATES)
    const ids = Array.from({ length }, (_, at) => (sort === 'newest' ? last - at : at + 1))
    const hits = ids.map(id => ({ id, rank: 0 }))
    return { hits, total: crates, isLeast: false, considered: null }
  }

  /**
   * Returns words with their crates of all shelves, or of those that some hits are in. Loads the
   * shelves with the best crates first, and only as many as leave enough for a page of results.
   */
  async #filled(words: readonly WordHits[], hits: readonly Hit[] | null) {
    const lists = words.flatMap(one => one.lists).filter(list => list.shelves.size > 0)
    const ranks = new Map(lists.map(list => [list.term, new Map(list.ranks)]))
    const all = hits
      ? hits.map(hit => shelfOf(hit.id, hit.rank))
      : lists.flatMap(list => [...list.shelves.keys()])
    const wanted = [...new Set(all)].sort((a, b) => a - b)
    const shelves = new Set<number>()
    while (shelves.size < wanted.length) {
      let left = this.#files.left - RESERVED
      const before = shelves.size
      const loads: Promise<unknown>[] = []
      for (const shelf of wanted.slice(before)) {
        const having = lists.filter(list => list.shelves.has(shelf))
        for (const list of having) left -= 100 + CRATE_SIZE * (list.shelves.get(shelf) ?? 0)
        if (left < 0) break
        shelves.add(shelf)
        for (const { term } of having) loads.push(this.#addShelf(term, shelf, ranks.get(term)))
      }
      await Promise.all(loads)
      if (shelves.size === before) break
    }
    const filled = words.map(one => ({
      lists: one.lists.map(list => ({ ...list, ranks: ranks.get(list.term) ?? list.ranks })),
    }))
    return { filled, shelves, isWhole: shelves.size === wanted.length }
  }

  async #addShelf(term: string, shelf: number, ranks?: Map<number, number>): Promise<void> {
    for (const [id, rank] of (await this.#files.shelf(term, shelf)).ranks) ranks?.set(id, rank)
  }

  #exact(term: string): Promise<WordHits> {
    return this.#hits([{ term, likeness: 'same' }])
  }

  async #hits(variants: readonly Variant[]): Promise<WordHits> {
    const lists = variants.map(async ({ term, likeness }) => {
      return { ...(await this.#files.term(term)), likeness }
    })
    return { lists: await Promise.all(lists) }
  }

  async #crates(hits: readonly Hit[]): Promise<FoundCrate[]> {
    const crates = await this.#files.crates(hits.map(hit => hit.id))
    return crates.filter(one => one !== null)
  }
}

/** Returns the crates that the filters let through, in the order of a search. */
function narrowed(crates: readonly FoundCrate[], { filters, sort }: SearchRequest): FoundCrate[] {
  const [minor, owner] = [rustMinor(filters.rust ?? null), filters.owner?.toLowerCase()]
  const kept = crates.filter(
    ({ rust, owners }) =>
      (minor === null || rust === null || rust <= minor) &&
      (owner === undefined || owners.some(one => one.toLowerCase() === owner)),
  )
  if (sort === 'relevance') return kept
  const name = (one: FoundCrate) => canonicalName(one.name)
  const compare = (a: FoundCrate, b: FoundCrate) => {
    if (sort === 'newest') return compareText(b.updatedAt ?? '', a.updatedAt ?? '') || b.id - a.id
    return (sort === 'name' ? 0 : b.dependents - a.dependents) || compareText(name(a), name(b))
  }
  return kept.sort((a, b) => Number(a.yanked) - Number(b.yanked) || compare(a, b))
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}
