import { sql } from 'kysely'
import { SITEMAP_CRATES } from '../../../../core/paths/pages.ts'
import { SEARCH_BLOCK_CRATES } from '../../../../core/search/buckets.ts'
import { timestamp } from '../../../../core/timestamp.ts'
import type { Database } from '../../database/database.ts'
import { PAGE_KINDS, SITE } from '../../database/mark-kinds.ts'
import type { Queries } from '../change.ts'
import { MARK, type Mark, type MarkSubject, setMarks } from '../marks.ts'

/** The pages that are due to be rendered, at most `limit`, in the order of `PAGE_KINDS`. */
export async function pageMarks(db: Queries, now: Date, limit = 500): Promise<Mark[]> {
  const marks: Mark[] = []
  // Kind by kind, because each is a range of the primary key: nothing has to be sorted.
  for (const kind of PAGE_KINDS) {
    if (marks.length >= limit) break
    const due = await db
      .selectFrom('marks')
      .select(MARK)
      .where('kind', '=', kind)
      .where(eb => eb.or([eb('retry_at', 'is', null), eb('retry_at', '<=', timestamp(now))]))
      .orderBy('subject')
      .limit(limit - marks.length)
      .execute()
    marks.push(...due)
  }
  return marks
}

/** How many pages wait to be rendered. */
export async function countPageMarks(db: Queries): Promise<number> {
  const row = await db
    .selectFrom('marks')
    .select(db.fn.countAll<number>().as('n'))
    .where('kind', 'in', PAGE_KINDS)
    .executeTakeFirst()
  return row?.n ?? 0
}

/**
 * Marks the pages of every crate and of the registry; the terms of the search are marked elsewhere.
 */
export async function markAllPages(db: Queries): Promise<void> {
  await sql`INSERT INTO marks (kind, subject, generation)
    SELECT 'page', id, generation FROM crates WHERE true
    UNION ALL SELECT 'list', id, generation FROM crates
    UNION ALL SELECT 'entry', id / ${sql.lit(SEARCH_BLOCK_CRATES)}, max(generation)
      FROM crates GROUP BY 2
    UNION ALL SELECT 'map', id / ${sql.lit(SITEMAP_CRATES)}, max(generation) FROM crates GROUP BY 2
    UNION ALL SELECT 'release', releases.id, generation
      FROM releases JOIN crates ON crates.id = crate_id
    UNION ALL SELECT 'source', releases.id, generation
      FROM releases JOIN crates ON crates.id = crate_id
    UNION ALL SELECT 'site', ${SITE}, (SELECT coalesce(max(id), 0) FROM audit)
    WHERE true ON CONFLICT DO NOTHING`.execute(db)
}

/** Sets marks to be rendered as their subjects are now. */
export async function markAgain(db: Database, marks: readonly MarkSubject[]): Promise<void> {
  await db.transaction().execute(async tx => {
    const { last } = await tx
      .selectFrom('audit')
      .select(tx.fn.max('id').as('last'))
      .executeTakeFirstOrThrow()
    await setMarks(tx, marks, last ?? 0)
  })
}

/** The `list` marks of some crates. */
export async function listMarksOf(db: Queries, crateIds: readonly number[]): Promise<Mark[]> {
  return db
    .selectFrom('marks')
    .select(MARK)
    .where('kind', '=', 'list')
    .where('subject', 'in', crateIds)
    .execute()
}
