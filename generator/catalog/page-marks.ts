import { sql } from 'kysely'
import { type Database, SITE } from '../database.ts'
import type { Mark } from './record.ts'

/** Pages to render: those of crates, then those of the registry. At most `limit`, after `after`. */
export async function pageMarks(database: Database, after: Mark | null = null, limit = 500): Promise<Mark[]> {
  return database
    .selectFrom('marks')
    .selectAll()
    .where('kind', 'in', ['page', 'site'])
    .$if(after !== null, query =>
      query.where(eb => eb(eb.refTuple('kind', 'subject'), '>', eb.tuple(after?.kind ?? 'page', after?.subject ?? 0))),
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
    .where('kind', 'in', ['page', 'site'])
    .executeTakeFirst()
  return row?.n ?? 0
}

/** Marks the pages of every crate and of the registry, to be rendered anew. */
export async function markAllPages(database: Database): Promise<void> {
  await sql`INSERT INTO marks (kind, subject, generation)
    SELECT 'page', id, generation FROM crates WHERE true
    UNION ALL SELECT 'site', ${SITE}, (SELECT coalesce(max(id), 0) FROM audit)
    WHERE true ON CONFLICT DO NOTHING`.execute(database)
}
