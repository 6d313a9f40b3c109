import {
  searchBlockPath,
  searchBucketPath,
  searchColumnPath,
  searchLayoutPath,
} from '../paths/search.ts'
import { type Output, output } from '../paths/tree.ts'
import type { Column } from './columns.ts'
import type { SearchLayout } from './layout.ts'
import type { Postings } from './postings.ts'
import type { FoundCrate } from './read-files.ts'
import { byGrade, LISTED_MAX, type ListedWord } from './vocabulary.ts'

export interface FoundBy {
  readonly term: string
  readonly postings: Postings
}

export interface ShownCrate extends Omit<FoundCrate, 'description'> {
  readonly description: string | null
}

const DESCRIPTION_MAX = 160

/** Renders the file that says how the others are laid out. */
export function layoutFile(layout: SearchLayout): Output {
  return output(searchLayoutPath, `${JSON.stringify(layout)}\n`)
}

/**
 * Renders a bucket: terms with their postings, and lists of words by the hash of their shape, each
 * grade before its words. Both are given in any order.
 */
export function bucketFile(
  place: readonly [bits: number, bucket: number],
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

/** Renders a column, as `changeColumn` returns it. */
export function columnFile(column: Column, text: string): Output {
  return output(searchColumnPath(column), `${JSON.stringify(text)}\n`)
}

/** Renders a block; the crates are given in the order of their ids. */
export function blockFile(block: number, crates: readonly ShownCrate[]): Output {
  const packed = crates.map(({ id, name, version, description, yanked, updatedAt }) => {
    const shown = [...(description ?? '').replace(/\s+/g, ' ').trim()].slice(0, DESCRIPTION_MAX)
    return JSON.stringify([id, name, version, shown.join(''), yanked ? 1 : 0, updatedAt])
  })
  return lines(searchBlockPath(block), packed)
}

/** Renders one item per line, so that a change makes a small diff between copies of the tree. */
function lines(path: string, items: readonly string[]): Output {
  return output(path, `[${items.length === 0 ? '' : `\n${items.join(',\n')}\n`}]\n`)
}
