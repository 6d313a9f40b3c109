import { timestamp } from '../../../core/timestamp.ts'
import type { Database } from '../../database/connection.ts'
import { all, first, type Row, run } from '../../database/statement.ts'

/** A part of a release's pages that is rendered from its untrusted `.crate`. */
export interface PagePart {
  readonly releaseId: number
  readonly what: Row<'plain_pages'>['what']
  /** The format of the pages; a failure for another format is ignored. */
  readonly format: string
}

/** Why a part is shown as plain text. */
export type PageFailure = Readonly<Pick<Row<'plain_pages'>, 'because' | 'detail'>>

/** Returns the recorded failure of a part; null when there is none. */
export function readFailure(
  database: Database,
  { releaseId, what, format }: PagePart,
): Promise<PageFailure | null> {
  const text = `SELECT because, detail FROM plain_pages
    WHERE release_id = ? AND what = ? AND format = ?`
  return first(database, text, releaseId, what, format)
}

/** Records that a part failed, so that it is not tried again; a release may be deleted meanwhile. */
export async function writeFailure(
  database: Database,
  { releaseId, what, format }: PagePart,
  { because, detail }: PageFailure,
): Promise<void> {
  const text = `INSERT INTO plain_pages (release_id, what, format, because, detail, at)
    SELECT id, ?, ?, ?, ?, ? FROM releases WHERE id = ?
    ON CONFLICT (release_id, what) DO UPDATE SET format = excluded.format,
      because = excluded.because, detail = excluded.detail, at = excluded.at`
  await run(database, text, what, format, because, detail, timestamp(new Date()), releaseId)
}

/** Lists at most `limit` parts shown as plain text, with crate and version, newest first. */
export function listPlainPages(
  database: Database,
  limit: number,
): Promise<
  (Pick<Row<'crates'>, 'name'> &
    Pick<Row<'releases'>, 'version'> &
    Pick<Row<'plain_pages'>, 'what' | 'because' | 'detail' | 'at'>)[]
> {
  return all(
    database,
    `SELECT crates.name, releases.version, what, because, detail, at
      FROM plain_pages JOIN releases ON releases.id = plain_pages.release_id
      JOIN crates ON crates.id = releases.crate_id
      ORDER BY at DESC LIMIT ?`,
    limit,
  )
}
