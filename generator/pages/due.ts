import { all, LIST, type Queries } from '../database/statement.ts'
import { PAGE_KINDS, projectionOf } from '../projections/projections.ts'
import { type ChangeRange, dueMarks, type Mark } from '../records/marks.ts'

/** Number of marks whose files are rendered in one turn of the mutex, and synced together. */
export const BATCH = 64

/** Returns the marks of pages that are due, in the order of `kinds`, as `dueMarks` does. */
export function pageMarks(
  db: Queries,
  now: Date,
  limit = BATCH,
  kinds: readonly string[] = PAGE_KINDS,
  skip: ChangeRange = [0, 0],
): Promise<Mark[]> {
  return dueMarks(db, kinds, now, limit, skip)
}

/** Returns what rendering a page of a kind takes, as a multiple of the cheapest. */
export function costOf(kind: string): number {
  return projectionOf(kind)?.cost ?? 1
}

/** Counts the pages that wait to be rendered, and what they take together (`costOf`). */
export async function pageWork(db: Queries): Promise<{ count: number; cost: number }> {
  const sql = `SELECT kind, count(*) AS n FROM marks WHERE kind IN ${LIST} GROUP BY kind`
  const work = { count: 0, cost: 0 }
  for (const { kind, n } of await all<{ kind: string; n: number }>(db, sql, PAGE_KINDS)) {
    work.count += n
    work.cost += n * costOf(kind)
  }
  return work
}
