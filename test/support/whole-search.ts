import type { About } from '../../core/manifest/manifest.ts'
import { canonicalName, sortByName } from '../../core/name.ts'
import {
  searchBlockPath,
  searchBucketPath,
  searchLayoutPath,
  searchRanksPath,
} from '../../core/paths/search.ts'
import { type Output, output } from '../../core/paths/tree.ts'
import {
  BLOCK_CRATES,
  blockOf,
  bucketOf,
  hashOfStart,
  layoutFor,
  shapeOf,
} from '../../core/search/layout.ts'
import { changePostings, crateCount } from '../../core/search/postings.ts'
import { changeRanks, rankOf } from '../../core/search/ranks.ts'
import { blockText, bucketText } from '../../core/search/render.ts'
import { gradeOf, isListed, type ListedWord } from '../../core/search/similar.ts'
import { termsOf } from '../../core/search/terms.ts'

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
  readonly readme?: string | null
  /** What its core says. */
  readonly core?: SearchedCrate['about']
  /** How many crates depend on it, or on its core. */
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
    const shown = own.map(({ updatedAt = null, ...crate }) => ({ ...crate, updatedAt }))
    yield output(searchBlockPath(block), blockText(shown))
  }
  yield output(searchLayoutPath, `${JSON.stringify(layout)}\n`)
}

function* termFiles(
  crates: readonly (SearchedCrate & { readonly id: number })[],
  bits: number,
): Generator<Output> {
  const matches = new Map<string, Map<number, number>>()
  const ranks = new Map<number, number>()
  for (const { id, name, about, dependents = 0, ...crate } of crates) {
    const canonical = canonicalName(name)
    ranks.set(id, rankOf({ canonical, dependents, yanked: crate.yanked }))
    for (const [term, fit] of termsOf({ ...crate, ...about, canonical }))
      matches.set(term, (matches.get(term) ?? new Map<number, number>()).set(id, fit))
  }
  const buckets = Array.from({ length: 2 ** bits }, () => ({
    terms: [] as [string, string][],
    words: [] as ListedWord[],
  }))
  for (const [term, fits] of matches) {
    const postings = changePostings('', fits)
    buckets[bucketOf(hashOfStart(term), bits)]?.terms.push([term, postings])
    if (!isListed(term)) continue
    const listed = { word: term, grade: gradeOf(crateCount(postings)) }
    buckets[bucketOf(shapeOf(term), bits)]?.words.push(listed)
  }
  for (const [bucket, { terms, words }] of buckets.entries())
    yield output(searchBucketPath(bits, bucket), bucketText(terms, words))
  yield output(searchRanksPath, `${JSON.stringify(changeRanks('', ranks))}\n`)
}
