import { forEachConcurrently } from '../../../core/async/concurrently.ts'
import {
  searchBlockPath,
  searchBucketPath,
  searchLayoutPath,
  searchRanksPath,
  TERMS_FOLDER,
} from '../../../core/paths/search.ts'
import { type Output, output } from '../../../core/paths/tree.ts'
import {
  BLOCK_CRATES,
  bucketOf,
  HASH_BITS,
  layoutFor,
  SEARCH_FORMAT,
  type SearchLayout,
} from '../../../core/search/layout.ts'
import { blockText, bucketText } from '../../../core/search/render.ts'
import { gradeOf } from '../../../core/search/similar.ts'
import { all, one, type Queries, type Row, run, value } from '../../database/statement.ts'
import { type Mark, markSelected, marksOf, setMarks } from '../../records/marks.ts'
import { readCards } from '../../records/pages/cards.ts'
import { rangesOf } from '../../records/pages/overviews.ts'
import { writeValue } from '../../records/values.ts'
import type { PageContext } from '../context.ts'

/*
 * The subject of a mark says what is to be done: the id of a crate that searches find by something
 * else, or a file; that of a bucket is of its first hash. The layout comes last, and renders all.
 */
export const BUCKETS = 2 ** 40
export const BLOCKS = 2 * BUCKETS
export const RANKS = 3 * BUCKETS
export const LAYOUT = 4 * BUCKETS

/** The key of the layout that searches read. */
const LAYOUT_FACT = 'search_layouts'

/** The term in whose row the ranks of all crates are; no other has this character. */
export const RANKS_TERM = '#ranks'

interface SearchState {
  /** The layout that searches read; null before the first one is complete. */
  readonly layout: SearchLayout | null
  /** The layout that the registry needs. */
  readonly needed: SearchLayout
  readonly crates: number
  /** Grows when files that searches read have changed. */
  readonly version: number
  readonly generation: number
}

/** Returns the layout that searches read, and what decides about the next one. */
export async function readState(db: Queries): Promise<SearchState> {
  const sql = `SELECT (SELECT value FROM facts WHERE key = '${LAYOUT_FACT}') AS layouts,
    coalesce((SELECT crates FROM prefixes WHERE prefix = ''), 0) AS crates,
    coalesce((SELECT n FROM counts WHERE what = 'search'), 0) AS version,
    coalesce((SELECT max(id) FROM audit), 0) AS generation`
  type Read = Omit<SearchState, 'layout' | 'needed'> & { readonly layouts: string | null }
  const { layouts, ...rest } = await one<Read>(db, sql)
  const { now: layout } = JSON.parse(layouts ?? '{"now":null}')
  return { layout, needed: layoutFor(rest.crates), ...rest }
}

/**
 * Marks files that change, and here the layout, if the registry needs another, so that no search
 * finds neither a mark nor a layout. Buckets are given by any of their hashes. Returns the marks.
 */
export async function markFiles(tx: Queries, files: readonly number[]): Promise<Mark[]> {
  const { layout, needed, generation } = await readState(tx)
  if (layout?.bits !== needed.bits) await markLayout(tx, generation)
  // The first layout will have all files.
  if (layout === null) return []
  const width = 2 ** (HASH_BITS - layout.bits)
  const subjects = files.map(file => (file < BLOCKS ? file - (file % width) : file))
  const marks = marksOf('search', new Set(subjects))
  await setMarks(tx, marks, generation)
  return marks.map(mark => ({ ...mark, generation }))
}

/** Marks the layout, unless it is marked: it may wait because it failed. */
async function markLayout(tx: Queries, generation: number): Promise<void> {
  await markSelected(tx, 'search', `SELECT ${LAYOUT} AS subject, ${generation} AS generation`)
}

/**
 * Begins to derive and to write everything again, in a transaction. What another format has made is
 * of no use: until the new files are complete, there is no search.
 */
export async function beginWhole(tx: Queries): Promise<void> {
  const { layout, generation } = await readState(tx)
  if (layout?.format !== SEARCH_FORMAT) {
    for (const table of ['search_terms', 'search_crates']) await run(tx, `DELETE FROM ${table}`)
    await writeValue(tx, LAYOUT_FACT, null)
    await run(tx, `DELETE FROM marks WHERE kind = 'search' AND subject >= ${BUCKETS}`)
  }
  await markSelected(tx, 'search', 'SELECT id AS subject, generation FROM crates')
  await markLayout(tx, generation)
}

/** Writes all files of the layout that the registry needs, beside those that searches still read. */
export async function writeLayout({ database, tree }: PageContext): Promise<SearchLayout> {
  const { needed: layout } = await readState(database)
  const files = await filesOf(database, layout)
  for (const group of [files.slice(0, -1), files.slice(-1)])
    await forEachConcurrently(group, async file => {
      for (const output of await renderFile(database, file, layout)) await tree.write(output)
    })
  await writeValue(database, LAYOUT_FACT, JSON.stringify({ now: layout }))
  // Searches that have read the layout before find no file there, and read it again.
  for (const bits of await tree.folders(TERMS_FOLDER))
    if (bits !== String(layout.bits)) await tree.remove(`${TERMS_FOLDER}/${bits}`, true)
  return layout
}

/** Returns all files of a layout; last the one by which searches find the others. */
export async function filesOf(db: Queries, { bits }: SearchLayout): Promise<number[]> {
  const width = 2 ** (HASH_BITS - bits)
  const buckets = Array.from({ length: 2 ** bits }, (_, bucket) => BUCKETS + bucket * width)
  const blocks = (await rangesOf(db, BLOCK_CRATES)).map(block => BLOCKS + block)
  return [...buckets, ...blocks, RANKS, LAYOUT]
}

/** Returns the path of a file in a layout. */
export function pathOf(file: number, { bits }: SearchLayout): string {
  if (file >= LAYOUT) return searchLayoutPath
  if (file >= RANKS) return searchRanksPath
  if (file >= BLOCKS) return searchBlockPath(file - BLOCKS)
  return searchBucketPath(bits, bucketOf(file - BUCKETS, bits))
}

/** Renders a file; nothing for a block all of whose crates are gone. */
export async function renderFile(
  db: Queries,
  file: number,
  layout: SearchLayout,
): Promise<Output[]> {
  const path = pathOf(file, layout)
  if (file >= LAYOUT) return [output(path, `${JSON.stringify(layout)}\n`)]
  const ranks = 'SELECT postings FROM search_terms WHERE shard = 0 AND term = ?'
  if (file >= RANKS)
    return [output(path, `${JSON.stringify((await value(db, ranks, RANKS_TERM)) ?? '')}\n`)]
  if (file < BLOCKS) return [output(path, await renderBucket(db, file - BUCKETS, layout))]
  const first = (file - BLOCKS) * BLOCK_CRATES
  const ids = Array.from({ length: BLOCK_CRATES }, (_, at) => first + at)
  const crates = await readCards(db, ids)
  return crates.length === 0 ? [] : [output(path, blockText(crates))]
}

async function renderBucket(db: Queries, hash: number, { bits }: SearchLayout): Promise<string> {
  const width = 2 ** (HASH_BITS - bits)
  const first = hash - (hash % width)
  const range = [first, first + width] as const
  type Term = Pick<Row<'search_terms'>, 'term' | 'words'> & {
    /** Null for a word that is only near in shape. */
    readonly postings: string | null
  }
  const sql = `SELECT term, words, postings FROM search_terms
    WHERE shard = 0 AND place >= ? AND place < ?
    UNION ALL SELECT term, words, NULL FROM search_terms
    WHERE shard = 0 AND shape >= ? AND shape < ? AND words > 0`
  const rows = await all<Term>(db, sql, ...range, ...range)
  const terms = rows.flatMap(({ term, postings }) => (postings ? [[term, postings] as const] : []))
  const words = rows.filter(({ postings }) => postings === null)
  const listed = words.map(({ term, words }) => ({ word: term, grade: gradeOf(words) }))
  return bucketText(terms, listed)
}
