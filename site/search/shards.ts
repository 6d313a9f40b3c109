import type { SiteFile } from '../site-file.ts'
import { siteFile } from '../site-file.ts'
import type { PackedEntry, SearchEntry } from './entry.ts'
import { pack, unpack } from './entry.ts'
import { compareNames, entryWords, IN_NAME } from './rank.ts'
import type { Tier } from './tiers.ts'
import { layoutOf, tierFile, tiers } from './tiers.ts'
import { canonical } from './words.ts'

/** Crates in one shard of names, word entries in one shard of words, and crates told of one word. */
const NAMES_MAX = 128
const WORDS_MAX = 4000
const WORD_MAX = 2000

/** How many crates a shard of names tells when there are too many to tell all. */
const HEAD = 20

/** What the browser loads first: where the shards are. */
export interface SearchLayout {
  readonly crates: number
  readonly names: Readonly<Record<string, string>>
  readonly words: Readonly<Record<string, string>>
}

/** A shard of names: all crates whose canonical name begins with its prefix, or the first of them. */
export interface NameShard {
  readonly total: number
  readonly crates: readonly PackedEntry[]
}

/** A shard of words: by word, by what it is worth, the names of crates; `more` when the list was cut. */
export type WordShard = Readonly<Record<string, WordCrates>>

/** `{"2": ["serde_json"], "4": […], "more": 1}`. */
export type WordCrates = Readonly<Record<string, readonly string[] | 1>>

/** Which crates have which word: three lists in step, sorted by word, the best crate first. */
interface Postings {
  readonly words: string[]
  readonly worths: number[]
  readonly names: string[]
  /** Words of which only the best crates are told. */
  readonly cut: Set<string>
}

/** The files of the search: a layout, shards of names, shards of words. The order of the entries does not matter. */
export function* searchFiles(entries: Iterable<SearchEntry>): Generator<SiteFile> {
  const crates = [...entries]
    .map(entry => ({ key: canonical(entry.name), entry: unpack(pack(entry)) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  const all = postings(crates.map(crate => crate.entry))
  const names = tiers(
    crates.map(crate => crate.key),
    NAMES_MAX,
  )
  const words = tiers(all.words, WORDS_MAX)
  const layout: SearchLayout = { crates: crates.length, names: layoutOf(names), words: layoutOf(words) }
  yield json('search/layout.json', layout)
  for (const tier of names) {
    const inside = crates.slice(tier.from, tier.from + tier.total).map(one => one.entry)
    yield json(`search/names/${tierFile(tier.prefix)}`, nameShard(tier, inside))
  }
  for (const tier of words) {
    yield json(`search/words/${tierFile(tier.prefix)}`, wordShard(tier, all))
  }
}

function nameShard(tier: Tier, entries: readonly SearchEntry[]): NameShard {
  const crates =
    tier.next.length === 0
      ? entries
      : [...entries.slice(0, tier.own), ...entries.slice(tier.own).sort(order).slice(0, HEAD)]
  return { total: tier.total, crates: crates.map(pack) }
}

function wordShard(tier: Tier, { words, worths, names, cut }: Postings): WordShard {
  const shard = new Map<string, Map<string, string[] | 1>>()
  const end = tier.from + (tier.next.length === 0 ? tier.total : tier.own)
  for (let at = tier.from; at < end; at++) {
    const word = words[at] ?? ''
    const worth = String(worths[at])
    const crates = shard.get(word) ?? new Map<string, string[] | 1>(cut.has(word) ? [['more', 1]] : [])
    shard.set(word, crates)
    const list = crates.get(worth)
    if (Array.isArray(list)) list.push(names[at] ?? '')
    else crates.set(worth, [names[at] ?? ''])
  }
  return Object.fromEntries([...shard].map(([word, crates]) => [word, Object.fromEntries(crates)]))
}

function postings(entries: readonly SearchEntry[]): Postings {
  const byWord = new Map<string, string[][]>()
  // Taken in the order of results, every list below is in that order without sorting it.
  for (const entry of [...entries].sort(order)) {
    const seen = new Set<string>()
    for (const [worth, list] of entryWords(entry)) {
      for (const word of list) {
        if (seen.has(word)) continue
        seen.add(word)
        const lists = byWord.get(word) ?? [[], [], []]
        lists[worth - IN_NAME]?.push(entry.name)
        byWord.set(word, lists)
      }
    }
  }
  const all: Postings = { words: [], worths: [], names: [], cut: new Set() }
  for (const word of [...byWord.keys()].sort()) {
    let left = WORD_MAX
    for (const [at, list] of (byWord.get(word) ?? []).entries()) {
      for (const name of list.slice(0, left)) {
        all.words.push(word)
        all.worths.push(at + IN_NAME)
        all.names.push(name)
      }
      if (list.length > left) all.cut.add(word)
      left = Math.max(0, left - list.length)
    }
  }
  return all
}

function order(a: SearchEntry, b: SearchEntry): number {
  return Number(a.yanked) - Number(b.yanked) || compareNames(a.name, b.name)
}

function json(path: string, value: unknown): SiteFile {
  return siteFile(path, 'json', JSON.stringify(value))
}
