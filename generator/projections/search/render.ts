import { forEachConcurrently } from '../../../core/async/concurrently.ts'
import { TERMS_FOLDER } from '../../../core/paths/search.ts'
import type { Output } from '../../../core/paths/tree.ts'
import {
  BLOCK_CRATES,
  bucketOf,
  HASH_BITS,
  layoutFor,
  type SearchLayout,
} from '../../../core/search/layout.ts'
import { blockFile, bucketFile, columnFile, layoutFile } from '../../../core/search/render-files.ts'
import { gradeOf, type ListedWord } from '../../../core/search/vocabulary.ts'
import { all, type Queries, type Row, value } from '../../database/statement.ts'
import type { Mark } from '../../records/marks.ts'
import { readCards } from '../../records/pages/cards.ts'
import type { PageContext } from '../context.ts'
import type { Rendered } from '../projection.ts'
import { columnTerm, refreshSearch } from './change.ts'
import { fileOf, filesOf, keepLayout, pathOf, readLayout, type SearchFile } from './layouts.ts'

/** The layout as a turn has read it; nobody else changes it meanwhile. */
const known = new WeakMap<PageContext, SearchLayout | null>()

/** Does what a mark of the search says. */
export async function buildSearch(
  context: PageContext,
  mark: Mark,
  others: readonly Mark[],
): Promise<Rendered> {
  const { database, tree } = context
  const file = fileOf(mark)
  if (file === null) {
    const refreshed = await refreshSearch(database, context.site, mark, others)
    known.set(context, refreshed.layout)
    return refreshed
  }
  const layout =
    file.kind === 'layout'
      ? await writeLayout(context)
      : (known.get(context) ?? (await readLayout(database)).layout)
  known.set(context, layout)
  if (layout === null || file.kind === 'layout') return { done: [mark] }
  const output = await searchOutput(database, file, layout)
  if (output) await tree.write(output)
  else await tree.remove(pathOf(file, layout))
  return { done: [mark] }
}

/** Writes all files of the layout that the registry needs, beside those that searches still read. */
async function writeLayout({ database, tree }: PageContext): Promise<SearchLayout> {
  const layout = layoutFor((await readLayout(database)).crates)
  await forEachConcurrently(await filesOf(database, layout), async file => {
    const output = await searchOutput(database, file, layout)
    if (output) await tree.write(output)
  })
  await tree.write(layoutFile(layout))
  await keepLayout(database, layout)
  // Searches that have read the layout before find no file there, and read it again.
  for (const bits of await tree.folders(TERMS_FOLDER))
    if (bits !== String(layout.bits)) await tree.removeFolder(`${TERMS_FOLDER}/${bits}`)
  return layout
}

/** Renders a file of the search; null for a block all of whose crates are gone. */
export async function searchOutput(
  db: Queries,
  { kind, number }: SearchFile,
  layout: SearchLayout,
): Promise<Output | null> {
  if (kind === 'layout') return layoutFile(layout)
  if (kind === 'block') return blockOutput(db, number)
  if (kind === 'bucket') return bucketOutput(db, bucketOf(number, layout.bits), layout.bits)
  const sql = 'SELECT postings FROM search_terms WHERE shard = 0 AND term = ?'
  return columnFile(kind, (await value<string>(db, sql, columnTerm(kind))) ?? '')
}

async function bucketOutput(db: Queries, bucket: number, bits: number): Promise<Output> {
  const width = 2 ** (HASH_BITS - bits)
  const range = [bucket * width, (bucket + 1) * width] as const
  type Term = Pick<Row<'search_terms'>, 'term' | 'shape' | 'words'> & {
    /** Null for a word that is only near in shape. */
    readonly postings: string | null
  }
  const sql = `SELECT term, 0 AS shape, 0 AS words, postings FROM search_terms
    WHERE shard = 0 AND place >= ? AND place < ?
    UNION ALL SELECT term, shape, words, NULL FROM search_terms
    WHERE shard = 0 AND shape >= ? AND shape < ? AND words > 0`
  const rows = await all<Term>(db, sql, ...range, ...range)
  const terms = rows.flatMap(({ term, postings }) => (postings === null ? [] : { term, postings }))
  const words = rows.filter(row => row.postings === null)
  const shapes = new Map<number, ListedWord[]>()
  for (const { term, shape, words: crates } of words) {
    const listed = { word: term, grade: gradeOf(crates) }
    const list = shapes.get(shape)
    if (list) list.push(listed)
    else shapes.set(shape, [listed])
  }
  return bucketFile([bits, bucket], terms, shapes)
}

async function blockOutput(db: Queries, block: number): Promise<Output | null> {
  const ids = Array.from({ length: BLOCK_CRATES }, (_, at) => block * BLOCK_CRATES + at)
  const crates = (await readCards(db, ids)).map(card => ({
    ...card,
    version: card.newest,
    description: card.about.description,
  }))
  return crates.length === 0 ? null : blockFile(block, crates)
}
