import { all, column, one, type Queries, type Row, value } from '../../database/statement.ts'

/** New releases and crates by week, oldest first; `week` counts from January 5, 1970. */
export type Week = Readonly<Row<'weeks'>>

/** Returns the weeks from `first` to `last` in which something was published. */
export function readWeeks(db: Queries, first: number, last: number): Promise<Week[]> {
  const sql = 'SELECT week, releases, crates FROM weeks WHERE week BETWEEN ? AND ? ORDER BY week'
  return all(db, sql, first, last)
}

/** Returns the week of the latest release; null if no times are known. */
export function lastWeek(db: Queries): Promise<number | null> {
  return value(db, 'SELECT week FROM weeks WHERE releases > 0 ORDER BY week DESC LIMIT 1')
}

/** Returns the number of bytes of all `.crate` files. */
export async function storedBytes(db: Queries): Promise<number> {
  return (await one<{ n: number }>(db, "SELECT n FROM counts WHERE what = 'bytes'")).n
}

/** The orders of the list of all crates, besides the one by name. */
export const ORDERS = ['dependents', 'updated', 'newest', 'bytes'] as const
export type CrateOrder = (typeof ORDERS)[number]

/** Each follows an index, so that only `limit` rows are read. */
const ORDER_BY: Readonly<Record<CrateOrder, string>> = {
  dependents: 'listings.dependents DESC, listings.canonical',
  updated: 'listings.updated_at DESC, listings.crate_id DESC',
  newest: 'crates.created_at DESC, crates.id DESC',
  bytes: 'listings.bytes DESC, listings.crate_id DESC',
}

/** Returns the ids of the first `limit` crates in an order. */
export function cratesInOrder(db: Queries, order: CrateOrder, limit: number): Promise<number[]> {
  const sql = `SELECT crates.id FROM crates JOIN listings ON listings.crate_id = crates.id
    ORDER BY ${ORDER_BY[order]} LIMIT ?`
  return column(db, sql, limit)
}
