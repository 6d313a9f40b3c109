import {
  searchBlockPath,
  searchBucketPath,
  searchColumnPath,
  searchLayoutPath,
} from '../paths/search.ts'
import { type Output, output } from '../paths/tree.ts'
import { type Column, numbersIn } from './columns.ts'
import type { SearchLayout } from './layout.ts'
import { crateCount, type Postings } from './postings.ts'
import { byGrade, gradeOf, isListed, LISTED_MAX, type ListedWord } from './vocabulary.ts'

/** A term with the crates that it finds. */
export interface FoundBy {
  readonly term: string
  readonly postings: Postings
}

/** A bucket of a shard: its terms, and the words of the shapes that have their hashes in it. */
export interface Bucket {
  readonly terms: ReadonlyMap<string, Postings>
  /** The whole words among the terms. */
  readonly words: readonly ListedWord[]
  readonly shapes: ReadonlyMap<number, readonly ListedWord[]>
}

/** What a result shows of a crate. */
export interface FoundCrate {
  readonly id: number
  readonly name: string
  readonly version: string
  readonly description: string
  /** Whether every version is yanked. */
  readonly yanked: boolean
  readonly updatedAt: string | null
}

/** A crate of which results show something. */
export interface ShownCrate extends Omit<FoundCrate, 'description'> {
  readonly description: string | null
}

/** Maximum number of characters shown of a description. */
const DESCRIPTION_MAX = 160

/** Renders the file that says how the others are laid out. */
export function layoutFile(layout: SearchLayout): Output {
  return output(searchLayoutPath, `${JSON.stringify(layout)}\n`)
}

/**
 * Renders a bucket of a shard: terms with their postings, and lists of words by the hash of their
 * shape, each grade before its words. Both are given in any order.
 */
export function bucketFile(
  place: readonly [bits: number, shard: number, bucket: number],
  terms: readonly FoundBy[],
  shapes: ReadonlyMap<number, readonly ListedWord[]>,
): Output {
  const sorted = terms.toSorted((a, b) => (a.term < b.term ? -1 : 1))
  const lists = [...shapes].sort(([a], [b]) => a - b)
  return lines(searchBucketPath(...place), [
    ...sorted.map(({ term, postings }) => JSON.stringify([term, postings])),
    ...lists.map(([hash, words]) => JSON.stringify([hash, ...packWords(words)])),
  ])
}

function packWords(words: readonly ListedWord[]): (number | string)[] {
  let last = 0
  return [...words]
    .sort(byGrade)
    .slice(0, LISTED_MAX)
    .flatMap(({ word, grade }) => {
      const before = last
      last = grade
      return grade === before ? [word] : [grade, word]
    })
}

/** Reads a bucket. */
export function readBucket(text: string): Bucket {
  const terms = new Map<string, Postings>()
  const shapes = new Map<number, ListedWord[]>()
  const words: ListedWord[] = []
  for (const [key, ...rest] of JSON.parse(text)) {
    if (typeof key === 'number') shapes.set(key, unpackWords(rest))
    else {
      terms.set(key, rest[0])
      if (isListed(key)) words.push({ word: key, grade: gradeOf(crateCount(rest[0])) })
    }
  }
  return { terms, words, shapes }
}

function unpackWords(packed: readonly (number | string)[]): ListedWord[] {
  let grade = 0
  return packed.flatMap(one => {
    if (typeof one === 'string') return [{ word: one, grade }]
    grade = one
    return []
  })
}

/** Renders a column of a shard, as `changeColumn` returns it. */
export function columnFile(column: Column, shard: number, text: string): Output {
  return output(searchColumnPath(column, shard), `${JSON.stringify(text)}\n`)
}

/** Reads a column of a shard. */
export function readColumn(text: string): Uint8Array {
  return numbersIn(JSON.parse(text))
}

/** Renders a block; the crates are given in the order of their ids. */
export function blockFile(block: number, crates: readonly ShownCrate[]): Output {
  const packed = crates.map(({ id, name, version, description, yanked, updatedAt }) => {
    const shown = [...(description ?? '').replace(/\s+/g, ' ').trim()].slice(0, DESCRIPTION_MAX)
    return JSON.stringify([id, name, version, shown.join(''), yanked ? 1 : 0, updatedAt])
  })
  return lines(searchBlockPath(block), packed)
}

/** Reads a block. */
export function readBlock(text: string): FoundCrate[] {
  const crates = JSON.parse(text) as [number, string, string, string, 0 | 1, string | null][]
  return crates.map(([id, name, version, description, yanked, updatedAt]) => {
    return { id, name, version, description, yanked: yanked === 1, updatedAt }
  })
}

/** Renders one item per line, so that a change makes a small diff between copies of the tree. */
function lines(path: string, items: readonly string[]): Output {
  return output(path, `[${items.length === 0 ? '' : `\n${items.join(',\n')}\n`}]\n`)
}
