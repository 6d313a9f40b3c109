import { canonicalName } from '../name-rules.ts'
import { POSTINGS_FIRST, SEARCH_BLOCK_CRATES } from './buckets.ts'
import { type FoundCrate, type Load, SearchFiles } from './files.ts'
import {
  certainOf,
  type Hit,
  hitsOf,
  inBlocks,
  inOrder,
  isCommon,
  isYanked,
  leastOf,
  mostHits,
  named,
  rangesOf,
  ranksOf,
  sizeOf,
  type WordHits,
} from './hits.ts'
import { type Leniency, planSearch, rarestOf, type Variant } from './plan.ts'
import { isEmptySearch, rustMinor, type SearchRequest } from './request.ts'
import { filterTerm, TERM_FILTERS } from './terms.ts'
import { beginningOf, parseQuery } from './words.ts'

/** A page of the results of a search. */
export interface SearchResults {
  readonly crates: readonly FoundCrate[]
  /** The number of crates on all pages; there may be more if `isLeast`. */
  readonly total: number
  readonly isLeast: boolean
  /**
   * How many of the best crates were sorted and filtered, if those are not all: the rest would be
   * too much to load.
   */
  readonly considered: number | null
  readonly leniency: Leniency
  /** How many words each of the crates has, of how many that any crate has. */
  readonly matched: number
  readonly words: number
}

/** The hits of a search. */
interface Found extends Pick<SearchResults, 'total' | 'isLeast'> {
  /** The first ones are in the order of the results. */
  readonly hits: readonly Hit[]
}

/**
 * Maximum number of files of crates that are loaded to sort and filter by what they say; half as
 * many with common terms, whose own files are large.
 */
const CONSIDERED = 48

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
    // Crates with the words themselves come before those with similar ones.
    const same = await Promise.all(words.map(term => this.#exact(term)))
    const sure = await this.#unyanked(same, key, limit)
    if (sure.length >= limit) return this.#crates(sure.slice(0, limit))
    return (await this.search({ q, filters: {}, sort: 'relevance', page: 1 }, limit)).crates
  }

  /** Returns a page of `limit` crates. */
  async search(request: SearchRequest, limit: number): Promise<SearchResults> {
    const { q, filters, sort, page } = request
    const { words, key } = parseQuery(q)
    const plan = await planSearch(words, this.#files)
    const counts = { leniency: plan, matched: plan.words.length, words: plan.words.length }
    const isBlank = isEmptySearch(request) && sort === 'relevance'
    const isVain = isBlank || (plan.words.length === 0 && /[^\s+]/.test(q))
    if (isVain) return { crates: [], total: 0, isLeast: false, considered: null, ...counts }
    const masks = TERM_FILTERS.flatMap(one => {
      const text = filters[one]
      return text === undefined ? [] : [filterTerm(one, text)]
    })
    const [own, narrow] = await Promise.all([
      Promise.all(plan.words.map(one => this.#hits(one.variants))),
      Promise.all(masks.map(term => this.#exact(term))),
    ])
    const enough = page * limit
    const all = [...own, ...narrow]
    let found = await (all.length > 0 ? this.#every(all, key, enough) : this.#any(sort))
    if (found.total === 0 && own.length > 1) {
      const most = await this.#most(own, narrow, rarestOf(plan.words), enough)
      counts.matched = most.matched
      found = most
    }
    const start = enough - limit
    const { hits, total, isLeast } = found
    if (sort === 'relevance' && filters.rust === undefined && filters.owner === undefined) {
      const crates = await this.#crates(hits.slice(start, enough))
      return { crates, total, isLeast, considered: null, ...counts }
    }
    const some = inBlocks(hits, all.some(isCommon) ? CONSIDERED / 2 : CONSIDERED)
    const kept = narrowed(await this.#crates(some), request)
    const considered = some.length < total ? some.length : null
    const crates = kept.slice(start, enough)
    return { crates, total: kept.length, isLeast: false, considered, ...counts }
  }

  /** Returns the crates that all words find. */
  async #every(words: readonly WordHits[], key: string | null, enough: number): Promise<Found> {
    const [word] = words
    if (word && words.length === 1 && key === null) {
      const isEnough = !isCommon(word) || enough <= POSTINGS_FIRST
      const most = isEnough ? word : await this.#whole(word, null, true)
      return { ...sizeOf(most), hits: inOrder(hitsOf([most])) }
    }
    const rare = words.filter(one => !isCommon(one))
    const ranges = rare.length === 0 ? null : rangesOf(hitsOf(rare))
    const whole = async (long?: WordHits) =>
      hitsOf(await Promise.all(words.map(one => this.#whole(one, ranges, one === long))))
    let hits = await whole()
    if (rare.length === 0) {
      const isSimple = key === null || !isCommon(await this.#exact(beginningOf(key)))
      const isSure = isSimple && certainOf(hits, words) >= Math.min(enough, hits.length)
      // All ranks of a crate have the length of its name, so one word with lengths is enough.
      if (!isSure) hits = await whole(leastOf(words))
    }
    return { hits: await this.#order(hits, key, enough), total: hits.length, isLeast: false }
  }

  /** Returns the crates that the most words find. */
  async #most(
    words: readonly WordHits[],
    masks: readonly WordHits[],
    rarest: number,
    enough: number,
  ): Promise<Found & Pick<SearchResults, 'matched'>> {
    // No crate has both of two words, so the first crates of each are enough.
    const isSimple = words.length === 2 && masks.length === 0 && enough <= POSTINGS_FIRST
    const whole = (some: readonly WordHits[], withLengths: boolean) =>
      isSimple ? some : Promise.all(some.map(one => this.#whole(one, null, withLengths)))
    const own = await whole(words, true)
    const { hits, matched } = mostHits(own, await whole(masks, false), own[rarest])
    const total = isSimple ? words.reduce((sum, one) => sum + sizeOf(one).total, 0) : hits.length
    return { hits: inOrder(hits), matched, total, isLeast: isSimple && words.some(isCommon) }
  }

  /** Returns all crates, or as many of them as can be sorted. */
  async #any(sort: SearchRequest['sort']): Promise<Found> {
    const { crates, last } = await this.#files.layout()
    const length = Math.min(last, (CONSIDERED + 1) * SEARCH_BLOCK_CRATES)
    const ids = Array.from({ length }, (_, at) => (sort === 'newest' ? last - at : at + 1))
    return { hits: ids.map(id => ({ id, rank: 0 })), total: crates, isLeast: false }
  }

  /**
   * Returns unyanked crates that all words find, in order. For `limit` of them it is enough that
   * their names begin with the query: the rest of very common words is not loaded then.
   */
  async #unyanked(
    words: readonly WordHits[],
    key: string | null,
    limit: number,
  ): Promise<readonly Hit[]> {
    const rare = words.filter(one => !isCommon(one))
    if (key !== null && rare.length < words.length) {
      const begins = await this.#beginning(key, null)
      const base = rare.length > 0 ? hitsOf(rare) : hitsOf([begins])
      const maybe = named(base, ranksOf(begins), key).filter(hit => !isYanked(hit))
      const isSure = beginningOf(key) === key || maybe.length <= 4 * limit
      const sure = isSure ? await this.#named(maybe, key, limit) : []
      if (sure.length >= limit) return sure
    }
    return (await this.#every(words, key, limit)).hits.filter(hit => !isYanked(hit))
  }

  /** Returns hits in the order of results; names that begin with `key` come first. */
  async #order(hits: readonly Hit[], key: string | null, enough: number): Promise<readonly Hit[]> {
    const sorted = inOrder(hits)
    if (key === null || hits.length === 0) return sorted
    const begins = ranksOf(await this.#beginning(key, rangesOf(hits)))
    const sides = [false, true].map(side => sorted.filter(hit => isYanked(hit) === side))
    let ordered: Hit[] = []
    for (const side of sides) {
      const first = await this.#named(named(side, begins, key), key, enough - ordered.length)
      const others = new Set(side)
      for (const hit of first) others.delete(hit)
      // Not `push`: a call cannot have so many arguments.
      ordered = [...ordered, ...first, ...others]
    }
    return ordered
  }

  /** Returns the crates whose names may begin with `key`. */
  async #beginning(key: string, ranges: ReadonlySet<number> | null): Promise<WordHits> {
    return this.#whole(await this.#exact(beginningOf(key)), ranges, ranges === null)
  }

  /** Returns the first `limit` hits whose name really begins with `key`. */
  async #named(hits: readonly Hit[], key: string, limit: number): Promise<Hit[]> {
    const found: Hit[] = []
    for (let at = 0; at < hits.length && found.length < limit; at += limit) {
      const some = hits.slice(at, at + limit)
      const crates = await this.#files.crates(some.map(hit => hit.id))
      found.push(...some.filter((_, at) => canonicalName(crates[at]?.name ?? '').startsWith(key)))
    }
    return found.slice(0, limit)
  }

  /** Returns a word with all its crates, or with all its crates in some ranges. */
  async #whole(
    word: WordHits,
    ranges: ReadonlySet<number> | null,
    withLengths: boolean,
  ): Promise<WordHits> {
    const lists = word.lists.map(async list => {
      if (list.ranges.length === 0) return list
      const wanted = list.ranges.filter(range => ranges === null || ranges.has(range))
      const parts = await Promise.all(
        wanted.map(range => this.#files.common(list.term, range, withLengths)),
      )
      const all = parts.flatMap(part => [...part.ranks])
      return { ...list, ranks: new Map(withLengths ? all : [...all, ...list.ranks]), ranges: [] }
    })
    return { lists: await Promise.all(lists) }
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
