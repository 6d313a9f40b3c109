import type { Database } from '../../database/database.ts'
import { all, column, LIST, type Queries, type Row, run, value } from '../../database/statement.ts'
import { type MarkSubject, marksOf } from '../marks.ts'
import { markAgain } from './page-marks.ts'

/** An image of a README, with or without a copy. */
export type ImageRow = Readonly<
  Pick<Row<'images'>, 'id' | 'source' | 'path' | 'width' | 'height' | 'bytes' | 'attempts'>
>

const IMAGE = 'id, source, path, width, height, bytes, attempts'

/** Returns the images of the README of a release. */
export function imagesOf(db: Queries, releaseId: number): Promise<ImageRow[]> {
  return all(
    db,
    `SELECT ${IMAGE} FROM images JOIN image_uses ON image_uses.image_id = images.id
      WHERE image_uses.release_id = ?`,
    releaseId,
  )
}

/** Returns the known images among `sources`. */
export function findImages(db: Queries, sources: readonly string[]): Promise<ImageRow[]> {
  return all(db, `SELECT ${IMAGE} FROM images WHERE source IN ${LIST}`, sources)
}

/**
 * Records which images a README has. New ones have no copy; those that are URLs are due at `at`.
 * Marks those that it no longer has; the caller holds the mutex of the pages.
 */
export async function useImages(
  db: Database,
  releaseId: number,
  sources: readonly string[],
  at: string,
): Promise<void> {
  await db.transaction().execute(async tx => {
    await run(
      tx,
      `INSERT INTO images (source, retry_at)
        SELECT value ->> 0, CASE WHEN value ->> 0 LIKE 'crate:%' THEN NULL ELSE ? END
        FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`,
      at,
      sources.map(one => [one]),
    )
    const others = `FROM image_uses WHERE release_id = ?
      AND image_id NOT IN (SELECT id FROM images WHERE source IN ${LIST})`
    await run(
      tx,
      `INSERT INTO marks (kind, subject, generation) SELECT 'unused', image_id, 0 ${others}
        ON CONFLICT DO NOTHING`,
      releaseId,
      sources,
    )
    await run(tx, `DELETE ${others}`, releaseId, sources)
    await run(
      tx,
      `INSERT INTO image_uses (release_id, image_id)
        SELECT ?, id FROM images WHERE source IN ${LIST} ON CONFLICT DO NOTHING`,
      releaseId,
      sources,
    )
  })
}

/** What is recorded of a copy. */
export interface KeptImage extends Pick<ImageRow, 'width' | 'height'> {
  readonly path: string
  readonly bytes: Uint8Array
}

/** Records the copy of an image; returns whether the image is known. */
export async function keepImage(
  db: Queries,
  source: string,
  { path, width, height, bytes }: KeptImage,
): Promise<boolean> {
  const changed = await run(
    db,
    `UPDATE images SET path = ?, width = ?, height = ?, bytes = ?, attempts = 0, retry_at = NULL,
      problem = NULL WHERE source = ?`,
    path,
    width,
    height,
    bytes.byteLength,
    source,
  )
  return changed > 0
}

/** Records why there is no copy of an image, and when to try again; null for never. */
export async function failImage(
  db: Queries,
  source: string,
  problem: string,
  retryAt: string | null,
): Promise<void> {
  await run(
    db,
    `UPDATE images SET path = NULL, attempts = attempts + 1, problem = ?, retry_at = ?
      WHERE source = ?`,
    problem,
    retryAt,
    source,
  )
}

/** Records that copies are lost, so that they are downloaded again. */
export async function loseImages(db: Queries, sources: readonly string[], at: string) {
  await run(
    db,
    `UPDATE images SET path = NULL, attempts = 0, retry_at = ? WHERE source IN ${LIST}`,
    at,
    sources,
  )
}

/** Returns images to download at a time, the longest due first. */
export function dueImages(db: Queries, now: string, limit: number): Promise<ImageRow[]> {
  return all(
    db,
    `SELECT ${IMAGE} FROM images WHERE retry_at <= ? ORDER BY retry_at, id LIMIT ?`,
    now,
    limit,
  )
}

/** Returns when the next image is due; null when none is waiting. */
export function nextImage(db: Queries): Promise<string | null> {
  return value(db, 'SELECT min(retry_at) FROM images WHERE retry_at IS NOT NULL')
}

/** Counts the images that wait to be downloaded, at most `most`. */
export async function countDueImages(db: Queries, most: number): Promise<number> {
  const text =
    'SELECT count(*) FROM (SELECT 1 FROM images WHERE retry_at IS NOT NULL LIMIT ?) AS part'
  return (await value<number>(db, text, most)) ?? 0
}

/** Counts the images that have a copy, at most `most`. */
export async function countCopies(db: Queries, most: number): Promise<number> {
  const text = 'SELECT count(*) FROM (SELECT 1 FROM images WHERE path IS NOT NULL LIMIT ?) AS part'
  return (await value<number>(db, text, most)) ?? 0
}

/** Marks the pages that show an image. */
export async function markUses(db: Database, sources: readonly string[]): Promise<void> {
  const uses = await all<{ release: number; crate: number | null }>(
    db,
    `SELECT DISTINCT image_uses.release_id AS release, listings.crate_id AS crate
      FROM images JOIN image_uses ON image_uses.image_id = images.id
      LEFT JOIN listings ON listings.newest_id = image_uses.release_id
      WHERE images.source IN ${LIST}`,
    sources,
  )
  const crates = uses.flatMap(one => (one.crate === null ? [] : [one.crate]))
  const releases = uses.map(one => one.release)
  const marks: MarkSubject[] = [...marksOf('page', crates), ...marksOf('release', releases)]
  if (marks.length > 0) await markAgain(db, marks)
}

/** Forgets images that no README has any more: all of them, or one. */
export async function forgetImages(db: Queries, id: number | null = null): Promise<void> {
  const text = `DELETE FROM images WHERE id = coalesce(?, id)
    AND NOT EXISTS (SELECT 1 FROM image_uses WHERE image_id = images.id)`
  await run(db, text, id)
}

/** Returns the marks of the images of releases that are about to be deleted. */
export async function unusedMarks(
  db: Queries,
  releaseIds: readonly number[],
): Promise<MarkSubject[]> {
  const text = `SELECT DISTINCT image_id FROM image_uses WHERE release_id IN ${LIST}`
  return marksOf('unused', await column<number>(db, text, releaseIds))
}

/** Returns the path of a copy that has to go: no README has the image, nor another image the copy. */
export function unusedCopy(db: Queries, id: number): Promise<string | null> {
  return value(
    db,
    `SELECT path FROM images WHERE id = ? AND path IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM image_uses WHERE image_id = images.id)
      AND NOT EXISTS (SELECT 1 FROM images AS twin
        WHERE twin.path = images.path AND twin.id <> images.id)`,
    id,
  )
}

/** Returns whether a README shows a file with a copy, or a mark says that it may have to go. */
export async function isCopy(db: Queries, path: string): Promise<boolean> {
  const text = `SELECT 1 FROM images WHERE path = ?
    AND (EXISTS (SELECT 1 FROM image_uses WHERE image_id = images.id)
      OR EXISTS (SELECT 1 FROM marks WHERE kind = 'unused' AND subject = images.id)) LIMIT 1`
  return (await value(db, text, path)) !== null
}

/** Yields every image that has a copy, in pages so that memory use stays constant. */
export async function* eachCopy(db: Queries): AsyncIterable<ImageRow & { readonly path: string }> {
  const text = `SELECT ${IMAGE} FROM images WHERE path IS NOT NULL AND id > ? ORDER BY id LIMIT 500`
  for (let after = 0; ; ) {
    const rows = await all<ImageRow & { readonly path: string }>(db, text, after)
    yield* rows
    const last = rows.at(-1)
    if (!last) return
    after = last.id
  }
}
