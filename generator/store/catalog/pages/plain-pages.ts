import type { Database } from '../../database/database.ts'

/** A part of a release's pages that is rendered from a stranger's bytes. */
export interface PagePart {
  readonly releaseId: number
  readonly what: 'readme' | 'source'
  /** What the pages are rendered as; a failure of another format counts for nothing. */
  readonly format: string
}

/** Why a part is shown as plain text. */
export interface PageFailure {
  readonly because: string
  readonly detail: string | null
}

/** The failure remembered of a part; null when there is none. */
export async function readFailure(
  database: Database,
  { releaseId, what, format }: PagePart,
): Promise<PageFailure | null> {
  const row = await database
    .selectFrom('plain_pages')
    .select(['because', 'detail'])
    .where('release_id', '=', releaseId)
    .where('what', '=', what)
    .where('format', '=', format)
    .executeTakeFirst()
  return row ?? null
}

/** Remembers that a part failed, so that it is not tried again. */
export async function writeFailure(
  database: Database,
  { releaseId, what, format }: PagePart,
  { because, detail }: PageFailure,
): Promise<void> {
  await database
    .replaceInto('plain_pages')
    .values({ release_id: releaseId, what, format, because, detail })
    .execute()
}

/** The parts that are shown as plain text, with crate and version, newest first; at most `limit`. */
export async function listPlainPages(
  database: Database,
  limit: number,
): Promise<
  {
    name: string
    version: string
    what: string
    because: string
    detail: string | null
    at: string
  }[]
> {
  return database
    .selectFrom('plain_pages')
    .innerJoin('releases', 'releases.id', 'plain_pages.release_id')
    .innerJoin('crates', 'crates.id', 'releases.crate_id')
    .select(['name', 'version', 'what', 'because', 'detail', 'at'])
    .orderBy('at', 'desc')
    .limit(limit)
    .execute()
}
