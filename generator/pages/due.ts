import { all, LIST } from '../database/statement.ts'
import { pagesOf, projectionOf } from '../projections/pages.ts'
import type { Records } from '../records/crate-change.ts'
import { type ChangeRange, dueMarks, type Mark } from '../records/marks.ts'

/** Number of marks whose files are rendered in one turn of the mutex, and synced together. */
export const BATCH = 64

/** Returns the marks of pages that are due, in the order of `kinds`, as `dueMarks` does. */
export function pageMarks(
  records: Records,
  now: Date,
  limit = BATCH,
  kinds = pageKinds(records),
  skip?: ChangeRange,
): Promise<Mark[]> {
  const own = kinds.map(kind => projectionOf(records, kind) ?? { kind })
  return dueMarks(records.database, own, now, limit, skip)
}

/** Returns the kinds of marks of pages, in the order of rendering. */
function pageKinds(records: Records): readonly string[] {
  return pagesOf(records).map(({ kind }) => kind)
}

/** Returns what rendering a page of a kind takes, as a multiple of the cheapest. */
export function costOf(records: Records, kind: string): number {
  return projectionOf(records, kind)?.cost ?? 1
}

/** Counts the pages that wait to be rendered, and what they take together (`costOf`). */
export async function pageWork(records: Records): Promise<{ count: number; cost: number }> {
  const sql = `SELECT kind, count(*) AS n FROM marks WHERE kind IN ${LIST} GROUP BY kind`
  type Count = { readonly kind: string; readonly n: number }
  const work = { count: 0, cost: 0 }
  for (const { kind, n } of await all<Count>(records.database, sql, pageKinds(records))) {
    work.count += n
    work.cost += n * costOf(records, kind)
  }
  return work
}
