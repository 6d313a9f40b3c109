import type { SiteFile } from '../site-file.ts'
import { siteFile } from '../site-file.ts'
import {
  BLOCK_CRATES,
  bitsFor,
  blockOf,
  blockPath,
  bucketOf,
  bucketPath,
  FORMAT,
  hashOf,
  LAYOUT_PATH,
  type PackedCrate,
  type PackedTerm,
  POSTINGS_MAX,
  type SearchLayout,
} from './buckets.ts'
import { canonical, termsOf } from './terms.ts'

/** What the search shows of a crate. */
export interface SearchEntry {
  readonly name: string
  readonly version: string
  readonly description: string | null
  /** Whether every version is yanked. */
  readonly yanked: boolean
}

/** A crate, as all files of the search are made of it. */
export interface SearchedEntry extends SearchEntry {
  readonly keywords: readonly string[]
}

/** A crate that a term finds. */
export interface Posting {
  readonly rank: number
  readonly id: number
}

/** A term with the crates that it finds. */
export interface Term {
  readonly term: string
  /** How many they are, `postings` or more. */
  readonly crates: number
  /** By rank and id, at most `POSTINGS_MAX`. */
  readonly postings: readonly Posting[]
}

/** More of a description than this is not shown. */
const DESCRIPTION_MAX = 160

/** `search/layout.json`. */
export function layoutFile(bits: number, crates: number): SiteFile {
  return json(LAYOUT_PATH, { format: FORMAT, bits, crates } satisfies SearchLayout)
}

/** The file of the terms of a bucket, whatever order they come in. */
export function bucketFile(bits: number, bucket: number, terms: readonly Term[]): SiteFile {
  const sorted = terms.toSorted((a, b) => (a.term < b.term ? -1 : 1))
  return lines(bucketPath(bits, bucket), sorted.map(packTerm))
}

/** The file of the crates of a block, in the order of their ids. */
export function blockFile(block: number, entries: readonly (SearchEntry & { readonly id: number })[]): SiteFile {
  return lines(blockPath(block), entries.map(packCrate))
}

/** All files of the search at once; a crate's id is its place by canonical name, from 1. */
export function* searchFiles(entries: Iterable<SearchedEntry>): Generator<SiteFile> {
  const crates = [...entries]
    .map(entry => ({ key: canonical(entry.name), entry }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ key, entry }, at) => ({ ...entry, id: at + 1, canonical: key }))
  const found = new Map<string, number[]>()
  for (const crate of crates) {
    for (const [term, rank] of termsOf(crate)) {
      const list = found.get(term)
      if (list) list.push(placed(rank, crate.id))
      else found.set(term, [placed(rank, crate.id)])
    }
  }
  const bits = bitsFor(found.size)
  const buckets = Array.from({ length: 2 ** bits }, (): string[] => [])
  for (const term of found.keys()) buckets[bucketOf(hashOf(term), bits)]?.push(term)
  for (const [bucket, terms] of buckets.entries()) {
    yield bucketFile(
      bits,
      bucket,
      terms.map(term => termOf(term, found.get(term) ?? [])),
    )
  }
  for (let block = 0; crates.length > 0 && block <= blockOf(crates.length); block++) {
    // The first block is one short: there is no crate 0.
    const start = block * BLOCK_CRATES - 1
    yield blockFile(block, crates.slice(Math.max(0, start), start + BLOCK_CRATES))
  }
  yield layoutFile(bits, crates.length)
}

/** Rank and id in one number, in order; millions of objects would not fit. */
function placed(rank: number, id: number): number {
  return rank * 2 ** 32 + id
}

function termOf(term: string, places: readonly number[]): Term {
  const postings = Float64Array.from(places).sort().slice(0, POSTINGS_MAX)
  return {
    term,
    crates: places.length,
    postings: Array.from(postings, place => ({ rank: Math.floor(place / 2 ** 32), id: place % 2 ** 32 })),
  }
}

function packTerm({ term, crates, postings }: Term): PackedTerm {
  const ranks: number[][] = []
  let last: Posting | null = null
  for (const posting of postings) {
    if (last?.rank === posting.rank) ranks.at(-1)?.push(posting.id - last.id)
    else ranks.push([posting.rank, posting.id])
    last = posting
  }
  return [term, crates, ...ranks]
}

function packCrate({ id, name, version, description, yanked }: SearchEntry & { readonly id: number }): PackedCrate {
  const text = [...(description ?? '').replace(/\s+/g, ' ').trim()].slice(0, DESCRIPTION_MAX).join('')
  return [id, name, version, text, yanked ? 1 : 0]
}

function json(path: string, value: unknown): SiteFile {
  return siteFile(`search/${path}`, 'json', `${JSON.stringify(value)}\n`)
}

/** One item a line: a change of one is a small difference between two copies of the tree. */
function lines(path: string, items: readonly unknown[]): SiteFile {
  const text = items.map(item => JSON.stringify(item)).join(',\n')
  return siteFile(`search/${path}`, 'json', `[${text === '' ? '' : `\n${text}\n`}]\n`)
}
