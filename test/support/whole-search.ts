import type { About } from '../../core/manifest/manifest.ts'
import { canonicalName, sortByName } from '../../core/name.ts'
import type { Output } from '../../core/paths/tree.ts'
import { COLUMNS, changeColumn, columnsOf } from '../../core/search/columns.ts'
import {
  BLOCK_CRATES,
  blockOf,
  bucketOf,
  layoutFor,
  placeOf,
  shapeOf,
} from '../../core/search/layout.ts'
import { changePostings, crateCount } from '../../core/search/postings.ts'
import {
  blockFile,
  bucketFile,
  columnFile,
  type FoundBy,
  layoutFile,
} from '../../core/search/render-files.ts'
import { termsOf } from '../../core/search/terms.ts'
import { gradeOf, isListed, type ListedWord } from '../../core/search/vocabulary.ts'

/** A crate as the search files need it. */
export interface SearchedCrate {
  readonly name: string
  /** The newest version that is not yanked, or the newest of all. */
  readonly newest: string
  readonly about: Pick<About, 'description' | 'keywords'> &
    Partial<Pick<About, 'categories' | 'license'>>
  /** Whether every version is yanked. */
  readonly yanked: boolean
  readonly updatedAt?: string | null
  /** The Rust version that the newest version needs; null if unknown. */
  readonly rust?: string | null
  /** How many crates depend on it. */
  readonly dependents?: number
  /** The usernames of its owners, if pages name them. */
  readonly owners?: readonly string[]
}

/** Renders all search files at once; a crate's id is its position by canonical name, from 1. */
export function* searchFiles(entries: Iterable<SearchedCrate>): Generator<Output> {
  const crates = sortByName(entries).map((entry, at) => ({ ...entry, id: at + 1 }))
  const layout = layoutFor(crates.length)
  yield* termFiles(crates, layout.bits)
  for (let block = 0; crates.length > 0 && block <= blockOf(crates.length); block++) {
    const first = block * BLOCK_CRATES
    const own = crates.slice(Math.max(0, first - 1), first + BLOCK_CRATES - 1)
    const shown = own.map(({ about, newest: version, updatedAt = null, ...crate }) => {
      return { ...crate, version, updatedAt, description: about.description }
    })
    yield blockFile(block, shown)
  }
  yield layoutFile(layout)
}

function* termFiles(
  crates: readonly (SearchedCrate & { readonly id: number })[],
  bits: number,
): Generator<Output> {
  const found = new Map<string, [id: number, fit: number][]>()
  const columns = { ranks: new Map<number, number>(), rust: new Map<number, number>() }
  for (const { id, name, about, dependents = 0, rust = null, ...crate } of crates) {
    const canonical = canonicalName(name)
    const numbers = columnsOf({ canonical, dependents, yanked: crate.yanked, rust })
    for (const column of COLUMNS) columns[column].set(id, numbers[column])
    for (const [term, fit] of termsOf({ ...crate, ...about, canonical })) {
      const places = found.get(term)
      if (places) places.push([id, fit])
      else found.set(term, [[id, fit]])
    }
  }
  const buckets = Array.from({ length: 2 ** bits }, () => ({
    terms: [] as FoundBy[],
    shapes: new Map<number, ListedWord[]>(),
  }))
  for (const [term, places] of found) {
    const postings = changePostings('', new Map(places))
    buckets[bucketOf(placeOf(term), bits)]?.terms.push({ term, postings })
    const words = isListed(term) ? crateCount(postings) : 0
    if (words === 0) continue
    const { shapes } = buckets[bucketOf(shapeOf(term), bits)] ?? { shapes: new Map() }
    const listed = { word: term, grade: gradeOf(words) }
    const list = shapes.get(shapeOf(term))
    if (list) list.push(listed)
    else shapes.set(shapeOf(term), [listed])
  }
  for (const [bucket, { terms, shapes }] of buckets.entries())
    yield bucketFile([bits, bucket], terms, shapes)
  for (const column of COLUMNS) yield columnFile(column, changeColumn('', columns[column]))
}
