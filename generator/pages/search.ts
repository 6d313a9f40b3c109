import type { Output } from '../../core/output.ts'
import {
  searchBucketPath,
  searchBucketsFolder,
  searchCommonPath,
  TERMS_FOLDER,
} from '../../core/paths/search.ts'
import { bitsFor, bucketOf, SEARCH_BLOCK_CRATES } from '../../core/search/buckets.ts'
import { blockFile, layoutFile, termFile } from '../render/search-files.ts'
import { type Mark, marksOf } from '../store/catalog/marks.ts'
import { readCards } from '../store/catalog/pages/cards.ts'
import { markAgain } from '../store/catalog/pages/page-marks.ts'
import { crateCount } from '../store/catalog/pages/prefixes.ts'
import {
  beginLayout,
  commonRanges,
  commonSubject,
  finishLayout,
  isLastBucket,
  ofCommonSubject,
  readBucket,
  readCommon,
  readLayout,
  searchMarksOf,
  termCount,
} from '../store/catalog/search/search-files.ts'
import type { PageContext } from './context.ts'

/** A bucket of terms. */
export async function bucketOutput(
  { database }: PageContext,
  bits: number,
  bucket: number,
): Promise<Output> {
  return termFile(searchBucketPath(bits, bucket), await readBucket(database, bits, bucket))
}

/** A block of crates; nothing when all of them are gone. */
export async function blockOutputs({ database }: PageContext, block: number): Promise<Output[]> {
  const ids = Array.from(
    { length: SEARCH_BLOCK_CRATES },
    (_, at) => block * SEARCH_BLOCK_CRATES + at,
  )
  const crates = await readCards(database, ids)
  return crates.length === 0 ? [] : [blockFile(block, crates)]
}

/** The crates of a range that the common terms of a hash find; nothing when there are none. */
export async function commonOutputs({ database }: PageContext, subject: number): Promise<Output[]> {
  const { hash, range } = ofCommonSubject(subject)
  const terms = await readCommon(database, hash, range)
  return terms.length === 0 ? [] : [termFile(commonPath(subject), terms)]
}

/** The path of the file of a `common` mark. */
export function commonPath(subject: number): string {
  const { hash, range } = ofCommonSubject(subject)
  return searchCommonPath(hash, range)
}

/** The file that the browser's search loads first; none before the terms are there. */
export async function searchLayoutOutputs({ database }: PageContext): Promise<Output[]> {
  const { now } = await readLayout(database)
  return now === null ? [] : [layoutFile(now, await crateCount(database))]
}

/** Renders the bucket that a changed term is in; gives the marks of all terms of the bucket. */
export async function buildTerms(context: PageContext, mark: Mark): Promise<readonly Mark[]> {
  const { now, next } = await readLayout(context.database)
  const layouts = [now, next].filter(bits => bits !== null)
  const bits = Math.max(0, ...layouts)
  // Before the terms are read: a change that comes later has a mark of its own.
  const marks = await searchMarksOf(context.database, bits, bucketOf(mark.subject, bits))
  for (const one of layouts)
    await context.tree.write(await bucketOutput(context, one, bucketOf(mark.subject, one)))
  // Without a layout the first one will have all terms.
  return layouts.length === 0 ? [mark] : marks
}

/** Begins to spread the terms over more files when the present files are too few. */
export async function rebucketWhenGrown({ database }: PageContext): Promise<void> {
  const { now, next } = await readLayout(database)
  if (next !== null) return
  const bits = bitsFor(await termCount(database))
  if (now === null || bits > now) await beginLayout(database, bits)
}

/** Renders all terms again, over as many files as they need now. */
export async function rebucketTerms({ database, pageMutex }: PageContext): Promise<void> {
  const common = (await commonRanges(database)).map(one => commonSubject(one.hash, one.range))
  await markAgain(database, marksOf('common', common))
  await pageMutex.run(async () => beginLayout(database, bitsFor(await termCount(database))))
}

/**
 * Renders a bucket of the next layout; `done` are others whose marks are still set. The last bucket
 * switches readers to it. A reader of the old layout finds no file and loads the layout again.
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
  await context.tree.write(layoutFile(bits, await crateCount(context.database)))
  await finishLayout(context.database, bits)
  const folder = searchBucketsFolder(bits)
  for (const name of await context.tree.folders(TERMS_FOLDER)) {
    if (`${TERMS_FOLDER}/${name}` !== folder)
      await context.tree.removeFolder(`${TERMS_FOLDER}/${name}`)
  }
}
