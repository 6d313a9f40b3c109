import type { PackedEntry, SearchEntry } from './entry.ts'
import { unpack } from './entry.ts'
import type { Query } from './rank.ts'
import { compare, compareNames, fit, IN_DESCRIPTION, IN_KEYWORDS, IN_NAME, parseQuery } from './rank.ts'
import type { NameShard, SearchLayout, WordShard } from './shards.ts'
import { findTier, tierFile } from './tiers.ts'
import { canonical } from './words.ts'

/** Gets a file of the search by its path below `search/`, parsed. */
export type Load = (path: string) => Promise<unknown>

/** What a search found. */
export interface Found {
  readonly crates: readonly SearchEntry[]
  /** Whether there may be more than those. */
  readonly more: boolean
}

/** A search over the shards; it loads what a query needs and nothing twice. */
export class Lookup {
  readonly #load: Load
  readonly #files = new Map<string, Promise<unknown>>()

  constructor(load: Load) {
    this.#load = load
  }

  /** The best crates for a query, at most `limit`. */
  async find(text: string, limit: number): Promise<Found> {
    const query = parseQuery(text)
    if (query.canonical === '') return { crates: [], more: false }
    const layout = (await this.#file('layout.json')) as SearchLayout
    const [beginning, names] = await Promise.all([this.#beginning(layout, query), this.#withWords(layout, query)])
    const known = new Map(beginning.crates.map(entry => [entry.name, entry]))
    const wanted = names.filter(name => !known.has(name)).slice(0, limit + 1)
    for (const entry of await this.#entries(layout, wanted)) known.set(entry.name, entry)
    const found = [...known.values()].flatMap(entry => {
      const how = fit(query, entry)
      return how === null ? [] : [{ entry, fit: how }]
    })
    const crates = found.sort(compare).map(one => one.entry)
    return { crates: crates.slice(0, limit), more: crates.length > limit || beginning.more }
  }

  /** Crates whose name begins with the query: all, or the first when there are very many. */
  async #beginning(layout: SearchLayout, query: Query): Promise<Found> {
    const prefix = findTier(layout.names, query.canonical)
    if (prefix === null) return { crates: [], more: false }
    const shard = await this.#names(prefix)
    return { crates: shard.crates.map(unpack), more: shard.total > shard.crates.length }
  }

  /** Names of crates that have each word, the best first. */
  async #withWords(layout: SearchLayout, query: Query): Promise<string[]> {
    const lists = await Promise.all(query.words.map(word => this.#withWord(layout, word)))
    // A list that was cut cannot rule a crate out, unless there is no other.
    const whole = lists.filter(list => !list.more)
    const judges = whole.length > 0 ? whole : lists
    const [first, ...others] = judges
    if (first === undefined) return []
    const common = [...first.names.keys()].filter(name => others.every(list => list.names.has(name)))
    const worth = (name: string) => Math.max(...lists.map(list => list.names.get(name) ?? IN_DESCRIPTION))
    return common
      .map(name => ({ name, worth: worth(name) }))
      .sort((a, b) => a.worth - b.worth || compareNames(a.name, b.name))
      .map(one => one.name)
  }

  async #withWord(layout: SearchLayout, word: string): Promise<{ names: Map<string, number>; more: boolean }> {
    const names = new Map<string, number>()
    const prefix = findTier(layout.words, word)
    if (prefix === null) return { names, more: false }
    const short = Object.hasOwn(layout.words, prefix)
    const shard = (await this.#file(`words/${tierFile(prefix)}`)) as WordShard
    let more = short
    for (const [one, crates] of Object.entries(shard)) {
      if (!one.startsWith(word)) continue
      if (crates.more === 1) more = true
      for (const worth of [IN_NAME, IN_KEYWORDS, IN_DESCRIPTION]) {
        const list = crates[worth]
        if (!Array.isArray(list)) continue
        for (const name of list) names.set(name, Math.min(worth, names.get(name) ?? worth))
      }
    }
    return { names, more }
  }

  /** What is known of crates, by name. */
  async #entries(layout: SearchLayout, names: readonly string[]): Promise<SearchEntry[]> {
    const prefixes = new Set(names.map(name => findTier(layout.names, canonical(name))))
    const shards = await Promise.all([...prefixes].map(prefix => (prefix === null ? null : this.#names(prefix))))
    const wanted = new Set(names)
    return shards
      .flatMap((shard): readonly PackedEntry[] => shard?.crates ?? [])
      .filter(packed => wanted.has(packed[0]))
      .map(unpack)
  }

  async #names(prefix: string): Promise<NameShard> {
    return (await this.#file(`names/${tierFile(prefix)}`)) as NameShard
  }

  /** A file, loaded once; a failure is not kept, so that the next try may do better. */
  #file(path: string): Promise<unknown> {
    const known = this.#files.get(path)
    if (known !== undefined) return known
    const file = this.#load(path)
    this.#files.set(path, file)
    file.catch(() => this.#files.delete(path))
    return file
  }
}
