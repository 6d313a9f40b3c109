import { SITEMAP_CRATES } from '../../../../core/paths/tree.ts'
import { timestamp } from '../../../../core/timestamp.ts'
import type { Database } from '../../database/connection.ts'
import { MARK_KINDS, PAGE_KINDS, type PageKind, SITE } from '../../database/mark-kinds.ts'
import { all, LIST, type Queries, run, value } from '../../database/statement.ts'
import { MARK, type Mark, type MarkSubject, setMarks } from '../marks.ts'

/** Returns the marks of at most `limit` pages that are due, in the order of `kinds`. */
export async function pageMarks(
  db: Queries,
  now: Date,
  limit = 500,
  kinds: readonly PageKind[] = PAGE_KINDS,
): Promise<Mark[]> {
  const marks: Mark[] = []
  // One kind at a time: each is a range of the primary key, so nothing has to be sorted.
  for (const kind of kinds) {
    if (marks.length >= limit) break
    const due = await all<Mark>(
      db,
      `SELECT ${MARK} FROM marks WHERE kind = ? AND (retry_at IS NULL OR retry_at <= ?)
        ORDER BY subject LIMIT ?`,
      kind,
      timestamp(now),
      limit - marks.length,
    )
    marks.push(...due)
  }
  return marks
}

/** Counts the pages that wait to be rendered. */
export async function countPageMarks(db: Queries): Promise<number> {
  const text = `SELECT count(*) FROM marks WHERE kind IN ${LIST}`
  return (await value<number>(db, text, PAGE_KINDS)) ?? 0
}

/**
 * Marks the pages of every crate and of the registry; `beginWhole` marks the search. Forgets
 * what older programs noted of pages that there are no more.
 */
export async function markAllPages(db: Queries): Promise<void> {
  await run(db, `DELETE FROM marks WHERE kind NOT IN ${LIST}`, MARK_KINDS)
  await run(db, "DELETE FROM plain_pages WHERE what <> 'readme'")
  await run(
    db,
    `INSERT INTO marks (kind, subject, generation)
      SELECT 'page', id, generation FROM crates WHERE true
      UNION ALL SELECT 'list', id, generation FROM crates
      UNION ALL SELECT 'map', id / ${SITEMAP_CRATES}, max(generation) FROM crates GROUP BY 2
      UNION ALL SELECT 'release', releases.id, generation
        FROM releases JOIN crates ON crates.id = crate_id
      UNION ALL SELECT 'downloads', crate_id, 0 FROM crate_downloads
      UNION ALL SELECT 'downloads', ${SITE}, 0
      UNION ALL SELECT 'label', id, 0 FROM labels
      UNION ALL SELECT 'user', id, 0 FROM users
      UNION ALL SELECT 'views', ${SITE}, (SELECT coalesce(max(id), 0) FROM audit)
      UNION ALL SELECT 'site', ${SITE}, (SELECT coalesce(max(id), 0) FROM audit)
      WHERE true ON CONFLICT DO NOTHING`,
  )
}

/** Sets marks so that their subjects are rendered again in their current state. */
export async function markAgain(db: Database, marks: readonly MarkSubject[]): Promise<void> {
  await db.transaction(async tx => {
    await setMarks(tx, marks, (await value<number>(tx, 'SELECT max(id) FROM audit')) ?? 0)
  })
}

/** Returns the `list` marks of some crates. */
export function listMarksOf(db: Queries, crateIds: readonly number[]): Promise<Mark[]> {
  const text = `SELECT ${MARK} FROM marks
    WHERE kind = 'list' AND subject IN ${LIST}`
  return all(db, text, crateIds)
}
