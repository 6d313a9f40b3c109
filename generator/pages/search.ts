import {
  searchBucketPath,
  searchBucketsFolder,
  searchShelfPath,
  TERMS_FOLDER,
} from '../../core/paths/search.ts'
import type { Output } from '../../core/paths/tree.ts'
import { bitsFor, bucketOf, SEARCH_BLOCK_CRATES } from '../../core/search/buckets.ts'
import { blockFile, layoutFile, shelfFile, termFile } from '../render/search-files.ts'
import { type Mark, marksOf } from '../store/catalog/marks.ts'
import { readCards } from '../store/catalog/pages/cards.ts'
import { markAgain } from '../store/catalog/pages/page-marks.ts'
import { crateCount } from '../store/catalog/pages/prefixes.ts'
import {
  beginLayout,
  commonSubjects,
  finishLayout,
  isLastBucket,
  lastCrate,
  ofCommonSubject,
  readBucket,
  readLayout,
  readSearchFacts,
  readShelf,
  readWordLists,
  searchMarksOf,
  termCount,
} from '../store/catalog/search/search-files.ts'
import type { Queries } from '../store/database/statement.ts'
import type { PageContext } from './context.ts'

/** Renders a bucket of terms. */
export async function bucketOutput(
  { database }: PageContext,
  bits: number,
  bucket: number,
): Promise<Output> {
  const terms = await readBucket(database, bits, bucket)
  const lists = await readWordLists(database, bits, bucket)
  return termFile(searchBucketPath(bits, bucket), terms, lists)
}

/** Renders a block of crates; nothing if all of them are gone. */
export async function blockOutputs(
  { database, site }: PageContext,
  block: number,
): Promise<Output[]> {
  const ids = Array.from(
    { length: SEARCH_BLOCK_CRATES },
    (_, at) => block * SEARCH_BLOCK_CRATES + at,
  )
  const cards = await readCards(database, ids)
  const facts = await readSearchFacts(database, ids, site.owners)
  const crates = cards.map(card => ({ ...card, ...facts.get(card.id) }))
  return crates.length === 0 ? [] : [blockFile(block, crates)]
}

/** Renders a shelf of a hash's common terms; nothing if it has no crates. */
export async function commonOutputs({ database }: PageContext, subject: number): Promise<Output[]> {
  const { hash, shelf } = ofCommonSubject(subject)
  const terms = await readShelf(database, hash, shelf)
  return terms.length === 0 ? [] : [shelfFile(hash, shelf, terms)]
}

/** Returns the path of the file of a `common` mark. */
export function commonPath(subject: number): string {
  const { hash, shelf } = ofCommonSubject(subject)
  return searchShelfPath(hash, shelf)
}

/** Renders the file that the browser's search loads first; none until the terms are written. */
export async function searchLayoutOutputs({ database }: PageContext): Promise<Output[]> {
  const { now } = await readLayout(database)
  return now === null ? [] : [await layoutOutput(database, now)]
}

async function layoutOutput(database: PageContext['database'], bits: number): Promise<Output> {
  return layoutFile(bits, await crateCount(database), await lastCrate(database))
}

/** Renders the bucket of a changed term. Returns the marks of all terms in that bucket. */
export async function buildTerms(context: PageContext, mark: Mark): Promise<readonly Mark[]> {
  const { now, next } = await readLayout(context.database)
  const layouts = [now, next].filter(bits => bits !== null)
  const bits = Math.max(0, ...layouts)
  // Read before the terms: a later change sets a new mark.
  const marks = await searchMarksOf(context.database, bits, bucketOf(mark.subject, bits))
  for (const one of layouts)
    await context.tree.write(await bucketOutput(context, one, bucketOf(mark.subject, one)))
  // Without a layout, nothing is written yet; the first layout will have all terms.
  return layouts.length === 0 ? [mark] : marks
}

/** Starts spreading the terms over more files if there are too few. */
export async function rebucketWhenGrown(tx: Queries): Promise<void> {
  const { now, next } = await readLayout(tx)
  if (next !== null) return
  const bits = bitsFor(await termCount(tx))
  if (now === null || bits > now) await beginLayout(tx, bits)
}

/** Starts rendering all terms again, over the number of files that they need now. */
export async function rebucketTerms({ database }: Pick<PageContext, 'database'>): Promise<void> {
  await markAgain(database, marksOf('common', await commonSubjects(database)))
  const bits = bitsFor(await termCount(database))
  await database.transaction(tx => beginLayout(tx, bits))
}

/**
 * Renders a bucket of the next layout; `done` are rendered buckets whose marks are still set. After
 * the last bucket, readers get the new layout. Readers of the old one find no file and reload it.
 */
export async function buildNextBucket(
  context: PageContext,
  mark: Mark,
  done: readonly Mark[],
): Promise<void> {
  const { now, next } = await readLayout(context.database)
  const bits = next ?? now
  if (bits === null) return
  if (mark.subject < 2 ** bits)
    await context.tree.write(await bucketOutput(context, bits, mark.subject))
  const written = [mark, ...done.filter(one => one.kind === 'spread')].map(one => one.subject)
  if (!(await isLastBucket(context.database, written))) return
  await context.tree.write(await layoutOutput(context.database, bits))
  await finishLayout(context.database, bits)
  const folder = searchBucketsFolder(bits)
  for (const name of await context.tree.folders(TERMS_FOLDER)) {
    if (`${TERMS_FOLDER}/${name}` !== folder)
      await context.tree.removeFolder(`${TERMS_FOLDER}/${name}`)
  }
}
