import { timestamp } from '../../../../core/timestamp.ts'
import type { Database } from '../../database/connection.ts'
import { PAGE_KINDS, type PageKind } from '../../database/mark-kinds.ts'
import { all, LIST, type Queries, value } from '../../database/statement.ts'
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
