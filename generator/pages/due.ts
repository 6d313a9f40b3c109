import { LIST, type Queries, value } from '../database/statement.ts'
import { PAGE_KINDS } from '../projections/projections.ts'
import { dueMarks, type Mark } from '../records/marks.ts'

/** Number of marks whose files are rendered in one turn of the mutex, and synced together. */
export const BATCH = 64

/** Returns the marks of pages that are due, in the order of `kinds`. */
export function pageMarks(
  db: Queries,
  now: Date,
  limit = BATCH,
  kinds: readonly string[] = PAGE_KINDS,
): Promise<Mark[]> {
  return dueMarks(db, kinds, now, limit)
}

/** Counts the pages that wait to be rendered. */
export async function countPageMarks(db: Queries): Promise<number> {
  const sql = `SELECT count(*) FROM marks WHERE kind IN ${LIST}`
  return (await value<number>(db, sql, PAGE_KINDS)) ?? 0
}
