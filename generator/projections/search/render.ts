import { SEARCH_FOLDER, TERMS_FOLDER } from '../../../core/paths/search.ts'
import type { Output } from '../../../core/paths/tree.ts'
import {
  BLOCK_CRATES,
  bucketOf,
  HASH_BITS,
  type SearchLayout,
} from '../../../core/search/files/layout.ts'
import { blockFile, bucketFile, columnFile, layoutFile } from '../../../core/search/files/render.ts'
import { gradeOf, type ListedWord } from '../../../core/search/vocabulary.ts'
import type { Database } from '../../database/connection.ts'
import { all, type Queries, type Row, value } from '../../database/statement.ts'
import type { PublicTree } from '../../places/public-tree.ts'
import type { Mark } from '../../records/marks.ts'
import { readCards } from '../../records/pages/cards.ts'
import type { Rendered } from '../projection.ts'
import { columnTerm, refreshSearch, type SearchSite } from './change.ts'
import { fileOf, finishLayout, pathOf, readLayouts, type SearchFile } from './layouts.ts'

/** What renders the search. */
interface SearchContext {
  readonly database: Database
  readonly site: SearchSite
  readonly tree: PublicTree
}

/** Does what a mark of the search says. */
export async function buildSearch(context: SearchContext, mark: Mark): Promise<Rendered> {
  const { database, tree } = context
  const file = fileOf(mark)
  if (file === null) return refreshSearch(database, context.site, mark)
  const { now, next } = await readLayouts(database)
  const layout = mark.kind === 'search' ? (next ?? now) : now
  // Without a layout, nothing is written yet: the first one will have all files.
  if (layout === null) return { done: [mark] }
  const output = await searchOutput(database, file, layout)
  if (output) await tree.write(output)
  else await tree.remove(pathOf(file, layout))
  if (file.kind === 'layout') {
    await database.transaction(finishLayout)
    // Searches that have read the layout before find no file there, and read it again.
    for (const bits of await tree.folders(TERMS_FOLDER))
      if (bits !== String(layout.bits)) await tree.removeFolder(`${TERMS_FOLDER}/${bits}`)
    // Files of format 4, which had shards.
    for (const folder of ['ranks', 'rust', `terms/${layout.bits}/0`])
      await tree.removeFolder(`${SEARCH_FOLDER}/${folder}`)
  }
  return { done: [mark] }
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
  const terms = await all<Pick<Row<'search_terms'>, 'term' | 'postings'>>(
    db,
    'SELECT term, postings FROM search_terms WHERE shard = 0 AND place >= ? AND place < ?',
    ...range,
  )
  const words = await all<Pick<Row<'search_terms'>, 'term' | 'shape' | 'words'>>(
    db,
    `SELECT term, shape, words FROM search_terms
      WHERE shard = 0 AND shape >= ? AND shape < ? AND words > 0`,
    ...range,
  )
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
