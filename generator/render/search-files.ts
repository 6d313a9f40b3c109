import type { About } from '../../core/manifest/manifest.ts'
import { canonicalName, sortByName } from '../../core/name.ts'
import {
  searchBlockPath,
  searchBucketPath,
  searchCommonPath,
  searchFitsPath,
  searchLayoutPath,
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
  rangeOf,
  SEARCH_BLOCK_CRATES,
  type SearchLayout,
  type Term,
  type WordList,
} from '../../core/search/buckets.ts'
import { hashOf } from '../../core/search/hash.ts'
import { rustMinor } from '../../core/search/request.ts'
import { findableBy } from '../../core/search/terms.ts'
import {
  byGrade,
  gradeOf,
  KEYS,
  keyOf,
  LISTED_MAX,
  type ListedWord,
} from '../../core/search/vocabulary.ts'
import { nameLength } from '../../core/search/words.ts'
import type { CrateItem } from '../../site/crate-data.ts'

/** Format number of the search files. */
const FORMAT = 2

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

/** Renders the files of a hash's common terms in a range: with all of their ranks, and shorter. */
export function commonTermFiles(hash: number, range: number, terms: readonly Term[]): Output[] {
  const fits = terms.map(term => {
    const postings = term.postings.map(({ rank, id }) => ({ rank: rank - nameLength(rank), id }))
    return { ...term, postings: postings.sort((a, b) => a.rank - b.rank || a.id - b.id) }
  })
  return [
    termFile(searchCommonPath(hash, range), terms),
    termFile(searchFitsPath(hash, range), fits),
  ]
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
    const { ranks, words } = findableBy({ ...crate, ...crate.about, canonical })
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
    const own = common.filter(([term]) => hashOf(term) === hash)
    for (const range of rangesOf(own.flatMap(([, places]) => places))) {
      const parts = own.map(([term, places]) => {
        const inside = places.filter(place => rangeOf(idOf(place)) === range)
        return { term, crates: inside.length, postings: postingsOf(inside), ranges: [] }
      })
      const filled = parts.filter(part => part.crates > 0)
      yield* commonTermFiles(hash, range, filled)
    }
  }
}

/** Packs rank and id into one number that sorts by both; objects would take too much memory. */
function placed(rank: number, id: number): number {
  return rank * 2 ** 32 + id
}

function idOf(place: number): number {
  return place % 2 ** 32
}

function rangesOf(places: readonly number[]): number[] {
  return [...new Set(places.map(place => rangeOf(idOf(place))))].sort((a, b) => a - b)
}

function postingsOf(places: readonly number[], most = places.length): Posting[] {
  const first = Float64Array.from(places).sort().subarray(0, most)
  return Array.from(first, place => ({ rank: Math.floor(place / 2 ** 32), id: idOf(place) }))
}

function termOf(term: string, places: readonly number[]): Term {
  const isCommon = places.length > POSTINGS_MAX
  const postings = postingsOf(places, isCommon ? POSTINGS_FIRST : POSTINGS_MAX)
  return { term, crates: places.length, postings, ranges: isCommon ? rangesOf(places) : [] }
}

function packTerm({ term, crates, postings, ranges }: Term): PackedTerm {
  const ranks: number[][] = []
  let last: Posting | null = null
  for (const posting of postings) {
    if (last?.rank === posting.rank) ranks.at(-1)?.push(posting.id - last.id)
    else ranks.push([posting.rank, posting.id])
    last = posting
  }
  return [term, ranges.length === 0 ? crates : [crates, ...ranges], ...ranks]
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
