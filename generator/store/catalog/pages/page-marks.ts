import { sql } from 'kysely'
import { SITEMAP_CRATES } from '../../../../core/paths/pages.ts'
import { SEARCH_BLOCK_CRATES } from '../../../../core/search/buckets.ts'
import { type Database, PAGE_KINDS, type PageKind, SITE } from '../../database/database.ts'
import { mark, markAll } from '../marks.ts'
import type { Mark, Queries } from '../record.ts'

/** The pages to be rendered. At most `limit`, after `after`. */
export async function pageMarks(
  database: Database,
  after: Mark | null = null,
  limit = 500,
): Promise<Mark[]> {
  return database
    .selectFrom('marks')
    .selectAll()
    .where('kind', 'in', PAGE_KINDS)
    .$if(after !== null, query =>
      query.where(eb =>
        eb(
          eb.refTuple('kind', 'subject'),
          '>',
          eb.tuple(after?.kind ?? 'list', after?.subject ?? 0),
        ),
      ),
    )
    .orderBy('kind')
    .orderBy('subject')
    .limit(limit)
    .execute()
}

/** Whether a mark is still there, or has been renewed. */
export async function isPageMark(database: Database, mark: Mark): Promise<boolean> {
  const row = await database
    .selectFrom('marks')
    .select('generation')
    .where('kind', '=', mark.kind)
    .where('subject', '=', mark.subject)
    .executeTakeFirst()
  return row !== undefined
}

/** How many pages wait to be rendered. */
export async function countPageMarks(database: Database): Promise<number> {
  const row = await database
    .selectFrom('marks')
    .select(eb => eb.fn.countAll<number>().as('n'))
    .where('kind', 'in', PAGE_KINDS)
    .executeTakeFirst()
  return row?.n ?? 0
}

/** Marks the pages of every crate and of the registry, to be rendered anew; the terms of the search are marked elsewhere. */
export async function markAllPages(database: Database): Promise<void> {
  await sql`INSERT INTO marks (kind, subject, generation)
    SELECT 'page', id, generation FROM crates WHERE true
    UNION ALL SELECT 'list', id, generation FROM crates
    UNION ALL SELECT 'entry', id / ${sql.lit(SEARCH_BLOCK_CRATES)}, max(generation) FROM crates GROUP BY 2
    UNION ALL SELECT 'map', id / ${sql.lit(SITEMAP_CRATES)}, max(generation) FROM crates GROUP BY 2
    UNION ALL SELECT 'release', releases.id, generation FROM releases JOIN crates ON crates.id = crate_id
    UNION ALL SELECT 'source', releases.id, generation FROM releases JOIN crates ON crates.id = crate_id
    UNION ALL SELECT 'site', ${SITE}, (SELECT coalesce(max(id), 0) FROM audit)
    WHERE true ON CONFLICT DO NOTHING`.execute(database)
}

/** Marks subjects of one kind, to be rendered as they stand now. */
export async function markAnew(
  database: Database,
  kind: PageKind,
  subjects: readonly number[],
): Promise<void> {
  const { last } = await database
    .selectFrom('audit')
    .select(eb => eb.fn.max('id').as('last'))
    .executeTakeFirstOrThrow()
  await database.transaction().execute(tx => markAll(tx, kind, subjects, last ?? 0))
}

/** Marks the page of a crate, because something of it changed that is in no release: its owners. */
export async function markCratePage(
  tx: Queries,
  crateId: number,
  generation: number,
): Promise<void> {
  await mark(tx, { kind: 'page', subject: crateId, generation })
}

/** Those of some crates that wait to be listed anew. */
export async function listMarksOf(
  database: Database,
  crateIds: readonly number[],
): Promise<Mark[]> {
  return database
    .selectFrom('marks')
    .selectAll()
    .where('kind', '=', 'list')
    .where('subject', 'in', crateIds)
    .execute()
}
