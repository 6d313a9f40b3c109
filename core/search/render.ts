import type { FoundCrate } from './files.ts'
import { shapeOf } from './layout.ts'
import type { Postings } from './postings.ts'
import { byGrade, type ListedWord } from './similar.ts'

/** Maximum number of words in a list of one shape; the most frequent are kept. */
const LISTED_MAX = 500

const DESCRIPTION_MAX = 160

/**
 * Renders a bucket: terms with their postings, and words by the hash of their shape, each grade
 * before its words. Both are given in any order.
 */
export function bucketText(
  terms: readonly (readonly [term: string, postings: Postings])[],
  words: readonly ListedWord[],
): string {
  const shapes = new Map<number, ListedWord[]>()
  for (const listed of words.toSorted(byGrade)) {
    const shape = shapeOf(listed.word)
    const list = shapes.get(shape)
    if (list) list.push(listed)
    else shapes.set(shape, [listed])
  }
  const lists = [...shapes].sort(([a], [b]) => a - b)
  return lines([
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
export function blockText(
  crates: readonly (FoundCrate & { readonly deprecation?: object | null })[],
): string {
  const packed = crates.map(({ id, name, newest, about, yanked, deprecation, updatedAt }) => {
    const text = (about.description ?? '').replace(/\s+/g, ' ').trim()
    const shown = [...text].slice(0, DESCRIPTION_MAX).join('')
    return [id, name, newest, shown, Number(yanked) + (deprecation ? 2 : 0), updatedAt]
  })
  return lines(packed)
}

/** Renders one item per line, so that a change makes a small diff between copies of the tree. */
function lines(items: readonly unknown[]): string {
  const texts = items.map(item => JSON.stringify(item))
  return `[${texts.length === 0 ? '' : `\n${texts.join(',\n')}\n`}]\n`
}
