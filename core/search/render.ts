import {
  searchBlockPath,
  searchBucketPath,
  searchLayoutPath,
  searchRanksPath,
} from '../paths/search.ts'
import { type Output, output } from '../paths/tree.ts'
import type { FoundCrate } from './files.ts'
import { type SearchLayout, shapeOf } from './layout.ts'
import type { Postings } from './postings.ts'
import { byGrade, type ListedWord } from './similar.ts'

/** Maximum number of words in a list of one shape; the most frequent are kept. */
const LISTED_MAX = 500

const DESCRIPTION_MAX = 160

/** Renders the file that says how the others are laid out. */
export function layoutFile(layout: SearchLayout): Output {
  return output(searchLayoutPath, `${JSON.stringify(layout)}\n`)
}

/** Renders the file of the ranks, a text as `changeRanks` returns it. */
export function ranksFile(ranks: string): Output {
  return output(searchRanksPath, `${JSON.stringify(ranks)}\n`)
}

/**
 * Renders a bucket: terms with their postings, and words by the hash of their shape, each grade
 * before its words. Both are given in any order.
 */
export function bucketFile(
  place: readonly [bits: number, bucket: number],
  terms: readonly (readonly [term: string, postings: Postings])[],
  words: readonly ListedWord[],
): Output {
  const shapes = new Map<number, ListedWord[]>()
  for (const listed of words.toSorted(byGrade)) {
    const shape = shapeOf(listed.word)
    const list = shapes.get(shape)
    if (list) list.push(listed)
    else shapes.set(shape, [listed])
  }
  const lists = [...shapes].sort(([a], [b]) => a - b)
  return lines(searchBucketPath(...place), [
    ...terms.toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ...lists.map(([shape, list]) => [shape, ...packWords(list.slice(0, LISTED_MAX))]),
  ])
}

function packWords(words: readonly ListedWord[]): (number | string)[] {
  return words.flatMap(({ word, grade }, at) =>
    grade === words[at - 1]?.grade ? [word] : [grade, word],
  )
}

/** Renders what results show of the crates of a block, which are given in the order of their ids. */
export function blockFile(block: number, crates: readonly FoundCrate[]): Output {
  const packed = crates.map(({ id, name, newest, about, yanked, updatedAt }) => {
    const text = (about.description ?? '').replace(/\s+/g, ' ').trim()
    const shown = [...text].slice(0, DESCRIPTION_MAX).join('')
    return [id, name, newest, shown, yanked ? 1 : 0, updatedAt]
  })
  return lines(searchBlockPath(block), packed)
}

/** Renders one item per line, so that a change makes a small diff between copies of the tree. */
function lines(path: string, items: readonly unknown[]): Output {
  const texts = items.map(item => JSON.stringify(item))
  return output(path, `[${texts.length === 0 ? '' : `\n${texts.join(',\n')}\n`}]\n`)
}
