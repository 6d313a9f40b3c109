import type { About } from '../../core/manifest/manifest.ts'
import { canonicalName, sortByName } from '../../core/name.ts'
import {
  searchBlockPath,
  searchBucketPath,
  searchLayoutPath,
  searchShelfPath,
} from '../../core/paths/search.ts'
import { type Output, output } from '../../core/paths/tree.ts'
import {
  bitsFor,
  blockOf,
  bucketOf,
  type PackedCrate,
  type PackedTerm,
  type PackedWords,
  POSTINGS_FIRST,
  POSTINGS_MAX,
  type Posting,
  SEARCH_BLOCK_CRATES,
  type SearchLayout,
  type Term,
  type WordList,
} from '../../core/search/buckets.ts'
import { hashOf } from '../../core/search/hash.ts'
import { rustMinor } from '../../core/search/request.ts'
import { shelfOf, stepOf } from '../../core/search/score.ts'
import { findableBy } from '../../core/search/terms.ts'
import {
  byGrade,
  gradeOf,
  KEYS,
  keyOf,
  LISTED_MAX,
  type ListedWord,
} from '../../core/search/vocabulary.ts'
import type { CrateItem } from '../../site/crate-data.ts'

/** Format number of the search files. */
const FORMAT = 3

/** A crate as the search files need it. */
export interface SearchedCrate extends Omit<CrateItem, 'updatedAt' | 'about'> {
  readonly about: CrateItem['about'] & Partial<Pick<About, 'categories' | 'license'>>
  readonly updatedAt?: string | null
  /** The Rust version that the newest version needs; null if unknown. */
  readonly rust?: string | null
  /** How many crates depend on it. */
  readonly dependents?: number
  /** The usernames of its owners, if pages name them. */
  readonly owners?: readonly string[]
}

/** Maximum number of characters shown of a description. */
const DESCRIPTION_MAX = 160

/** Renders `search/layout.json`. */
export function layoutFile(bits: number, crates: number, last: number): Output {
  const layout: SearchLayout = { format: FORMAT, bits, crates, last }
  return output(searchLayoutPath, `${JSON.stringify(layout)}\n`)
}

/** Renders a shelf of a hash's common terms. */
export function shelfFile(hash: number, shelf: number, terms: readonly Term[]): Output {
  return termFile(searchShelfPath(hash, shelf), terms)
}

/** Renders a file of terms, given in any order, with the lists of words of a bucket. */
export function termFile(
  path: string,
  terms: readonly Term[],
  lists: readonly WordList[] = [],
): Output {
  const sorted = terms.toSorted((a, b) => (a.term < b.term ? -1 : 1))
  const words = lists.map(packWords).sort((a, b) => (a[0] < b[0] ? -1 : 1))
  return lines(path, [...sorted.map(packTerm), ...words])
}

/** Renders the file of a block; the crates are given in the order of their ids. */
export function blockFile(
  block: number,
  crates: readonly (SearchedCrate & { readonly id: number })[],
): Output {
  return lines(searchBlockPath(block), crates.map(packCrate))
}

/** Renders all search files at once; a crate's id is its position by canonical name, from 1. */
export function* searchFiles(entries: Iterable<SearchedCrate>): Generator<Output> {
  const crates = sortByName(entries).map((entry, at) => ({ ...entry, id: at + 1 }))
  const found = new Map<string, number[]>()
  const counts = new Map<string, number>()
  for (const crate of crates) {
    const canonical = canonicalName(crate.name)
    const step = stepOf(crate.dependents ?? 0)
    const { ranks, words } = findableBy({ ...crate, ...crate.about, canonical, step })
    for (const [term, rank] of ranks) {
      const list = found.get(term)
      if (list) list.push(placed(rank, crate.id))
      else found.set(term, [placed(rank, crate.id)])
    }
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  const bits = bitsFor(found.size)
  const buckets = Array.from({ length: 2 ** bits }, (): string[] => [])
  for (const term of found.keys()) buckets[bucketOf(hashOf(term), bits)]?.push(term)
  const lists = wordLists(counts, bits)
  for (const [bucket, terms] of buckets.entries()) {
    const all = terms.map(term => termOf(term, found.get(term) ?? []))
    yield termFile(searchBucketPath(bits, bucket), all, lists.get(bucket))
  }
  yield* commonFiles([...found].filter(([, places]) => places.length > POSTINGS_MAX))
  for (let block = 0; crates.length > 0 && block <= blockOf(crates.length); block++) {
    // The first block has one crate less, because there is no crate 0.
    const start = block * SEARCH_BLOCK_CRATES - 1
    yield blockFile(block, crates.slice(Math.max(0, start), start + SEARCH_BLOCK_CRATES))
  }
  yield layoutFile(bits, crates.length, crates.length)
}

/** Returns the lists of words of each bucket, from the number of crates of each word. */
function wordLists(counts: ReadonlyMap<string, number>, bits: number): Map<number, WordList[]> {
  const buckets = new Map<number, WordList[]>()
  for (const key of KEYS) {
    const lists = new Map<number, ListedWord[]>()
    for (const [word, crates] of counts) {
      const hash = keyOf(key, word)
      const list = lists.get(hash) ?? []
      lists.set(hash, list)
      list.push({ word, grade: gradeOf(crates) })
    }
    for (const [hash, all] of lists) {
      const bucket = buckets.get(bucketOf(hash, bits)) ?? []
      buckets.set(bucketOf(hash, bits), bucket)
      bucket.push({ key, hash, words: all.sort(byGrade).slice(0, LISTED_MAX) })
    }
  }
  return buckets
}

function* commonFiles(
  common: readonly (readonly [term: string, places: readonly number[]])[],
): Generator<Output> {
  for (const hash of new Set(common.map(([term]) => hashOf(term)))) {
    const shelves = new Map<number, Term[]>()
    for (const [term, all] of common.filter(([term]) => hashOf(term) === hash)) {
      for (const [shelf, places] of inShelves(all)) {
        const terms = shelves.get(shelf) ?? []
        shelves.set(shelf, terms)
        const postings = postingsOf(places)
        terms.push({ term, crates: postings.length, postings, shelves: [] })
      }
    }
    for (const [shelf, terms] of shelves) yield shelfFile(hash, shelf, terms)
  }
}

/** Spreads the crates of a common term over its shelves. */
function inShelves(places: readonly number[]): Map<number, number[]> {
  const shelves = new Map<number, number[]>()
  for (const place of places) {
    const shelf = shelfOf(idOf(place), rankOf(place))
    const inside = shelves.get(shelf)
    if (inside) inside.push(place)
    else shelves.set(shelf, [place])
  }
  return shelves
}

/** Packs rank and id into one number that sorts by both; objects would take too much memory. */
function placed(rank: number, id: number): number {
  return rank * 2 ** 32 + id
}

function idOf(place: number): number {
  return place % 2 ** 32
}

function rankOf(place: number): number {
  return Math.floor(place / 2 ** 32)
}

function postingsOf(places: readonly number[], most = places.length): Posting[] {
  const first = Float64Array.from(places).sort().subarray(0, most)
  return Array.from(first, place => ({ rank: rankOf(place), id: idOf(place) }))
}

function termOf(term: string, places: readonly number[]): Term {
  if (places.length <= POSTINGS_MAX)
    return { term, crates: places.length, postings: postingsOf(places), shelves: [] }
  const shelves = [...inShelves(places)].map(([shelf, own]) => [shelf, own.length] as const)
  shelves.sort(([a], [b]) => a - b)
  return { term, crates: places.length, postings: postingsOf(places, POSTINGS_FIRST), shelves }
}

function packTerm({ term, crates, postings, shelves }: Term): PackedTerm {
  const ranks: number[][] = []
  let last: Posting | null = null
  for (const posting of postings) {
    if (last?.rank === posting.rank) ranks.at(-1)?.push(posting.id - last.id)
    else ranks.push([posting.rank, posting.id])
    last = posting
  }
  return [term, shelves.length === 0 ? crates : [crates, ...shelves.flat()], ...ranks]
}

function packWords({ key, hash, words }: WordList): PackedWords {
  let last = 0
  const packed = words.flatMap(({ word, grade }) => {
    const before = last
    last = grade
    return grade === before ? [word] : [grade, word]
  })
  return [`${key} ${hash}`, ...packed]
}

function packCrate(crate: SearchedCrate & { readonly id: number }): PackedCrate {
  const { id, name, newest, about, yanked, updatedAt = null, dependents = 0, owners = [] } = crate
  const description = (about.description ?? '').replace(/\s+/g, ' ').trim()
  const shown = [...description].slice(0, DESCRIPTION_MAX).join('')
  const rust = rustMinor(crate.rust ?? null)
  return [id, name, newest, shown, yanked ? 1 : 0, updatedAt, dependents, rust, ...owners]
}

/** Renders one item per line, so that a change makes a small diff between copies of the tree. */
function lines(path: string, items: readonly unknown[]): Output {
  const text = items.map(item => JSON.stringify(item)).join(',\n')
  return output(path, `[${text === '' ? '' : `\n${text}\n`}]\n`)
}
