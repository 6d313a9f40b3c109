import { canonicalName } from '../name-rules.ts'
import {
  SEARCH_FOLDER,
  searchBlockPath,
  searchBucketPath,
  searchCommonPath,
  searchLayoutPath,
} from '../paths/search.ts'
import {
  blockOf,
  bucketOf,
  hashOf,
  type PackedCrate,
  type PackedTerm,
  rangeOf,
  type SearchLayout,
} from './buckets.ts'
import { beginningOf, nameLength, parseQuery, RANK_YANKED, WORD_MAX } from './words.ts'

/** Loads and parses a file by its path below `search/`; bypasses caches if `isFresh`. */
export type Load = (path: string, isFresh: boolean) => Promise<unknown>

type Bucket = readonly PackedTerm[]

/** A crate in the results. */
export interface FoundCrate {
  readonly name: string
  readonly version: string
  readonly description: string
  /** Whether every version is yanked. */
  readonly yanked: boolean
}

/** The results of a search. */
export interface SearchResults {
  readonly crates: readonly FoundCrate[]
  /** Whether more crates match. */
  readonly more: boolean
}

/** The crates that match a term. */
interface Listed {
  readonly term: string
  /** Total number of crates; for a common term, more than `ranks` has. */
  readonly crates: number
  /** The first crates: id → rank. */
  readonly ranks: ReadonlyMap<number, number>
  /** The id ranges of the other crates. */
  readonly ranges: readonly number[]
}

/** A crate that matches all words, with its highest rank over all words. */
interface Hit {
  readonly id: number
  readonly rank: number
}

const NOTHING: SearchResults = { crates: [], more: false }

/** A search over static files, with the same results as the API. It loads no file twice. */
export class Lookup {
  readonly #load: Load
  readonly #files = new Map<string, Promise<unknown>>()

  constructor(load: Load) {
    this.#load = load
  }

  /** Returns the best crates for a query, at most `limit`. */
  async find(text: string, limit: number): Promise<SearchResults> {
    const { words, key } = parseQuery(text)
    if (words.length === 0 || words.some(word => word.length > WORD_MAX)) return NOTHING
    const [first, ...terms] = await Promise.all(
      [key === null ? (words[0] ?? '') : beginningOf(key), ...words].map(term => this.#term(term)),
    )
    if (first === undefined || terms.some(term => term.crates === 0)) return NOTHING
    const ids =
      key === null ? [...first.ranks.keys()] : await this.#together(terms, first, key, limit)
    const crates = await this.#crates(ids.slice(0, limit))
    return { crates, more: ids.length > limit }
  }

  /** Returns the ids of the crates that match every word; the first `limit` of them are ordered. */
  async #together(
    terms: readonly Listed[],
    first: Listed,
    key: string,
    limit: number,
  ): Promise<number[]> {
    const beginning = (await this.#whole(first, null)).ranks
    const rare = terms.filter(term => term.ranges.length === 0)
    if (rare.length === terms.length)
      return this.#order(hits(terms), named(beginning, terms, key), key, limit)
    // Names that begin with the query come first; if there are enough, the others are not needed.
    const maybe = named(beginning, rare, key).filter(hit => !isYanked(hit))
    const sure =
      first.term === key || maybe.length <= 4 * limit
        ? await this.#beginning(maybe, key, limit + 1)
        : []
    if (sure.length > limit) return sure
    const ranges = rare.length === 0 ? null : new Set(hits(rare).map(hit => rangeOf(hit.id)))
    const whole = await Promise.all(terms.map(term => this.#whole(term, ranges)))
    return this.#order(hits(whole), named(beginning, whole, key), key, limit)
  }

  /** Returns the ids of hits in result order; `maybe` are hits whose name may begin with `key`. */
  async #order(
    found: readonly Hit[],
    maybe: readonly Hit[],
    key: string,
    limit: number,
  ): Promise<number[]> {
    let ids: number[] = []
    for (const yanked of [false, true]) {
      const ofKind = maybe.filter(hit => isYanked(hit) === yanked)
      const first = new Set(await this.#beginning(ofKind, key, limit - ids.length))
      const rest = found.filter(hit => isYanked(hit) === yanked && !first.has(hit.id))
      rest.sort((a, b) => a.rank - b.rank || a.id - b.id)
      // Not `push`: a call cannot have so many arguments.
      ids = [...ids, ...first, ...rest.map(hit => hit.id)]
    }
    return ids
  }

  /** Returns the first `limit` ids of crates whose name really begins with `key`. */
  async #beginning(hits: readonly Hit[], key: string, limit: number): Promise<number[]> {
    const ids: number[] = []
    for (let at = 0; at < hits.length && ids.length < limit; at += limit) {
      const some = hits.slice(at, at + limit).map(hit => hit.id)
      const blocks = await Promise.all(some.map(id => this.#block(id)))
      for (const [index, id] of some.entries()) {
        if (canonicalName(blocks[index]?.get(id)?.name ?? '').startsWith(key)) ids.push(id)
      }
    }
    return ids
  }

  /** Returns a term with all its crates, or with all its crates in some ranges. */
  async #whole(term: Listed, ranges: ReadonlySet<number> | null): Promise<Listed> {
    const wanted = term.ranges.filter(range => ranges === null || ranges.has(range))
    if (term.ranges.length === 0) return term
    const files = await Promise.all(
      wanted.map(range => this.#file<Bucket>(searchCommonPath(hashOf(term.term), range))),
    )
    const parts = files.map(file => listed(term.term, file))
    return { ...term, ranks: new Map(parts.flatMap(part => [...part.ranks])), ranges: [] }
  }

  /** Returns the crates with these ids, in order, except crates that were just removed. */
  async #crates(ids: readonly number[]): Promise<FoundCrate[]> {
    const blocks = await Promise.all(ids.map(id => this.#block(id)))
    return ids.flatMap((id, at) => blocks[at]?.get(id) ?? [])
  }

  async #block(id: number): Promise<ReadonlyMap<number, FoundCrate>> {
    const list = await this.#file<readonly PackedCrate[]>(searchBlockPath(blockOf(id)))
    return new Map(
      list.map(([one, name, version, description, yanked]) => [
        one,
        { name, version, description, yanked: !!yanked },
      ]),
    )
  }

  async #term(term: string): Promise<Listed> {
    const before = this.#file<SearchLayout>(searchLayoutPath)
    const { bits, crates } = await before
    if (crates === 0) return listed(term, [])
    const load = (bits: number) =>
      this.#file<Bucket>(searchBucketPath(bits, bucketOf(hashOf(term), bits)))
    const bucket = await load(bits).catch(async error => {
      // The number of buckets may have changed since the layout was read.
      const isStale = this.#file(searchLayoutPath) === before
      const after = await this.#file<SearchLayout>(searchLayoutPath, isStale)
      if (after.bits === bits) throw error
      return load(after.bits)
    })
    return listed(term, bucket)
  }

  /** Loads a file once; a failure is not cached. */
  #file<T>(path: string, isFresh = false): Promise<T> {
    const known = isFresh ? undefined : this.#files.get(path)
    if (known !== undefined) return known as Promise<T>
    // Pages have only the URL of the search folder.
    const file = this.#load(path.slice(SEARCH_FOLDER.length + 1), isFresh)
    this.#files.set(path, file)
    file.catch(() => this.#files.get(path) === file && this.#files.delete(path))
    return file as Promise<T>
  }
}

/** Unpacks a term from its bucket. */
function listed(term: string, list: Bucket): Listed {
  const [, total, ...groups] = list.find(([one]) => one === term) ?? [term, 0]
  const [crates = 0, ...ranges] = typeof total === 'number' ? [total] : total
  const ranks = new Map<number, number>()
  for (const [rank = 0, ...steps] of groups) {
    let id = 0
    for (const step of steps) {
      id += step
      ranks.set(id, rank)
    }
  }
  return { term, crates, ranks, ranges }
}

function isYanked({ rank }: Hit): boolean {
  return rank >= RANK_YANKED
}

/** Returns the crates in `beginning` that match all terms, if long enough for `key`; shortest first. */
function named(
  beginning: ReadonlyMap<number, number>,
  terms: readonly Listed[],
  key: string,
): Hit[] {
  return [...beginning]
    .filter(
      ([id, rank]) => nameLength(rank) >= key.length && terms.every(term => term.ranks.has(id)),
    )
    .map(([id, rank]) => ({ id, rank }))
    .sort((a, b) => nameLength(a.rank) - nameLength(b.rank) || a.id - b.id)
}

/** Returns the crates that match every term. */
function hits(terms: readonly Listed[]): Hit[] {
  const [first, ...others] = [...terms].sort((a, b) => a.ranks.size - b.ranks.size)
  const found: Hit[] = []
  for (const [id, own] of first?.ranks ?? []) {
    const ranks = others.map(other => other.ranks.get(id) ?? -1)
    if (!ranks.includes(-1)) found.push({ id, rank: Math.max(own, ...ranks) })
  }
  return found
}
