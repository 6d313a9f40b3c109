import { after, timestamp } from '../../core/timestamp.ts'
import { type FailedImage, fetchAll, fetchImage } from '../images/fetch.ts'
import type { MarkSubject } from '../store/catalog/marks.ts'
import {
  dueImages,
  failImage,
  forgetImages,
  type ImageRow,
  keepImage,
  markUses,
  unusedCopy,
} from '../store/catalog/pages/images.ts'
import { type PageContext, pageTurn } from './context.ts'
import { fileOf } from './images.ts'

/** Pauses before an image is tried again; then it stays a link. */
const PAUSES = ['10m', '1h', '6h', '1d', '7d'] as const

/** How many images are downloaded before pages get them. */
const BATCH = 16

/**
 * Downloads a batch of images that are due, puts them into the public tree and marks the pages that
 * show them. A failure is tried again later, a few times. Returns whether any image was due.
 * Throws when it is aborted; the images stay due.
 */
export async function fetchImages(context: PageContext, abort?: AbortSignal): Promise<boolean> {
  const { database, clock, images } = context
  const due = await dueImages(database, timestamp(clock()), BATCH)
  if (due.length === 0) return false
  const sources = due.map(one => one.source)
  const results = await fetchAll(sources, source => fetchImage(source, images, abort))
  // `verify` removes files without a record, and takes a turn for that.
  await pageTurn(context, async tree => {
    for (const row of due) {
      const result = results.get(row.source)
      if (result && 'path' in result) {
        // Meanwhile it may have been removed with the last README that showed it.
        if (await keepImage(database, row.source, result)) await tree.write(fileOf(result))
      } else if (result) await fail(context, row, result)
    }
  })
  await markUses(database, sources)
  return true
}

/**
 * Removes an image that no README has any more, and its copy, unless another image has the same.
 * The record goes when the file has gone for good: returns the mark to come again for that.
 */
export async function buildUnused(
  { database, tree }: PageContext,
  imageId: number,
): Promise<readonly MarkSubject[]> {
  const path = await unusedCopy(database, imageId)
  if (path !== null && (await tree.has(path))) {
    await tree.remove(path)
    return [{ kind: 'unused', subject: imageId }]
  }
  await forgetImages(database, imageId)
  return []
}

async function fail({ database, clock }: PageContext, row: ImageRow, failed: FailedImage) {
  const pause = failed.isFinal ? undefined : PAUSES[row.attempts]
  const retryAt = pause === undefined ? null : timestamp(after(clock(), pause))
  await failImage(database, row.source, failed.problem, retryAt)
}
