import type { Name } from '../../../core/name.ts'
import { all, one, type Queries, type Row, value } from '../../database/statement.ts'
import { type CrateCard, selectCards } from './cards.ts'

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

/** The figures of a registry. */
export interface Figures {
  readonly crates: number
  readonly versions: number
  /** Of all `.crate` files. */
  readonly bytes: number
  /** The crate with the most dependents, unless it is yanked; null when none has any. */
  readonly mostRequired: Name | null
}

/** Returns the figures of the registry. */
export function readFigures(db: Queries): Promise<Figures> {
  // A sum has no index: SQLite would take the one of `yanked`, and sort all crates.
  const sql = `SELECT coalesce((SELECT crates FROM prefixes WHERE prefix = ''), 0) AS crates,
    (SELECT n FROM counts WHERE what = 'releases') AS versions,
    (SELECT n FROM counts WHERE what = 'bytes') AS bytes,
    (SELECT crates.name FROM listings JOIN crates ON crates.id = listings.crate_id
      WHERE listings.dependents > 0 AND listings.yanked + 0 = 0
      ORDER BY listings.dependents DESC, listings.canonical LIMIT 1) AS "mostRequired"`
  return one(db, sql)
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

/** Returns the first `limit` crates in an order. */
export function cratesInOrder(db: Queries, order: CrateOrder, limit: number): Promise<CrateCard[]> {
  return selectCards(db, `ORDER BY ${ORDER_BY[order]} LIMIT ?`, limit)
}
