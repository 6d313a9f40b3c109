import {
  blockOf,
  blockPath,
  bucketOf,
  bucketPath,
  hashOf,
  LAYOUT_PATH,
  type PackedCrate,
  type PackedTerm,
  type SearchLayout,
} from './buckets.ts'
import { beginningOf, canonical, nameLength, parseQuery, RANK_YANKED, WORD_MAX } from './terms.ts'

/** Gets a file of the search by its path below `search/`, parsed; `isFresh`: not from any cache. */
export type Load = (path: string, isFresh: boolean) => Promise<unknown>

/** A crate that was found. */
export interface FoundCrate {
  readonly name: string
  readonly version: string
  readonly description: string
  /** Whether every version is yanked. */
  readonly yanked: boolean
}

/** What a search found. */
export interface Found {
  readonly crates: readonly FoundCrate[]
  /** Whether there are more than those. */
  readonly more: boolean
}

/** The crates of a term. */
interface Listed {
  /** How many they are; more than `ranks` has when the term is very common. */
  readonly crates: number
  /** The first of them in order: id → rank. */
  readonly ranks: ReadonlyMap<number, number>
  /** The rank of the last of those; crates that are not told have none better. */
  readonly last: number
}

/** A crate that has all words. */
interface Hit {
  readonly id: number
  readonly yanked: boolean
  readonly length: number
  /** Its highest rank: that of all words together. */
  readonly rank: number
}

const NOTHING: Found = { crates: [], more: false }

/**
 * A search over files that a server without a mind can answer with; it loads what a query needs and nothing twice. Finds
 * what the API finds, in its order. Only of words that more crates have than a file tells, the rest is not known: such a
 * word rules no crate out as long as a rarer one was asked for.
 */
export class Lookup {
  readonly #load: Load
  readonly #files = new Map<string, Promise<unknown>>()
  #layout: Promise<SearchLayout> | null = null

  constructor(load: Load) {
    this.#load = load
  }

  /** The best crates for a query, at most `limit`. */
  async find(text: string, limit: number): Promise<Found> {
    const { words, key } = parseQuery(text)
    if (words.length === 0 || words.some(word => word.length > WORD_MAX)) return NOTHING
    const [first, ...terms] = await Promise.all(
      [key === null ? (words[0] ?? '') : beginningOf(key), ...words].map(term => this.#term(term)),
    )
    if (first === undefined || terms.some(term => term.crates === 0)) return NOTHING
    const ids = key === null ? [...first.ranks.keys()] : await this.#together(terms, key, first.ranks, limit)
    const crates = await this.#crates(ids.slice(0, limit))
    return { crates, more: ids.length > limit }
  }

  /** Ids of the crates that have each of several words; the first `limit` of them are in order. */
  async #together(
    terms: readonly Listed[],
    key: string,
    beginning: ReadonlyMap<number, number>,
    limit: number,
  ): Promise<number[]> {
    const found = hits(terms)
    const ids: number[] = []
    for (const yanked of [false, true]) {
      const group = found.filter(hit => hit.yanked === yanked)
      const maybe = group
        .filter(hit => beginning.has(hit.id) && hit.length >= key.length)
        .sort((a, b) => a.length - b.length || a.id - b.id)
      const first = new Set(await this.#beginning(maybe, key, limit - ids.length))
      const rest = group.filter(hit => !first.has(hit.id)).sort((a, b) => a.rank - b.rank || a.id - b.id)
      ids.push(...first, ...rest.map(hit => hit.id))
    }
    return ids
  }

  /** Ids of those whose name begins with `key`, as far as `limit` of them; that takes a look at the names. */
  async #beginning(hits: readonly Hit[], key: string, limit: number): Promise<number[]> {
    const ids: number[] = []
    for (let at = 0; at < hits.length && ids.length < limit; at += limit) {
      const some = hits.slice(at, at + limit).map(hit => hit.id)
      const blocks = await Promise.all(some.map(id => this.#block(id)))
      for (const [index, id] of some.entries()) {
        if (canonical(blocks[index]?.get(id)?.name ?? '').startsWith(key)) ids.push(id)
      }
    }
    return ids
  }

  /** What is known of crates, in the order of the ids; one that went away meanwhile is left out. */
  async #crates(ids: readonly number[]): Promise<FoundCrate[]> {
    const blocks = await Promise.all(ids.map(id => this.#block(id)))
    return ids.flatMap((id, at) => blocks[at]?.get(id) ?? [])
  }

  async #block(id: number): Promise<ReadonlyMap<number, FoundCrate>> {
    const list = (await this.#file(blockPath(blockOf(id)))) as readonly PackedCrate[]
    return new Map(
      list.map(([one, name, version, description, yanked]) => [
        one,
        { name, version, description, yanked: yanked === 1 },
      ]),
    )
  }

  async #term(term: string): Promise<Listed> {
    const before = this.#layout ?? this.#readLayout(false)
    const list = await this.#bucket(term, await before).catch(async error => {
      // The terms were spread anew since the layout was read.
      const after = this.#layout === before ? this.#readLayout(true) : (this.#layout ?? this.#readLayout(true))
      if ((await after).bits === (await before).bits) throw error
      return this.#bucket(term, await after)
    })
    return listed(list.find(([one]) => one === term))
  }

  async #bucket(term: string, { bits, crates }: SearchLayout): Promise<readonly PackedTerm[]> {
    if (crates === 0) return []
    return (await this.#file(bucketPath(bits, bucketOf(hashOf(term), bits)))) as readonly PackedTerm[]
  }

  #readLayout(isFresh: boolean): Promise<SearchLayout> {
    const layout = this.#load(LAYOUT_PATH, isFresh) as Promise<SearchLayout>
    this.#layout = layout
    layout.catch(() => {
      if (this.#layout === layout) this.#layout = null
    })
    return layout
  }

  /** A file, loaded once; a failure is not kept, so that the next try may do better. */
  #file(path: string): Promise<unknown> {
    const known = this.#files.get(path)
    if (known !== undefined) return known
    const file = this.#load(path, false)
    this.#files.set(path, file)
    file.catch(() => this.#files.delete(path))
    return file
  }
}

function listed(packed: PackedTerm | undefined): Listed {
  const [, crates = 0, ...groups] = packed ?? ['']
  const ranks = new Map<number, number>()
  let last = 0
  for (const [rank = 0, ...steps] of groups) {
    let id = 0
    for (const step of steps) {
      id += step
      ranks.set(id, rank)
    }
    last = rank
  }
  return { crates, ranks, last }
}

/** The crates that every term has, as far as it tells: one that does not tell all rules none out, unless none tells all. */
function hits(terms: readonly Listed[]): Hit[] {
  const whole = terms.filter(term => term.ranks.size === term.crates)
  const judges = (whole.length > 0 ? whole : [...terms]).sort((a, b) => a.ranks.size - b.ranks.size)
  const found: Hit[] = []
  for (const [id, some] of judges[0]?.ranks ?? []) {
    if (!judges.every(judge => judge.ranks.has(id))) continue
    const rank = Math.max(...terms.map(term => term.ranks.get(id) ?? term.last))
    found.push({ id, yanked: some >= RANK_YANKED, length: nameLength(some), rank })
  }
  return found
}
