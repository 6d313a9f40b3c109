import { type DayCounts, dayOf, sumUntil, unpackDays } from '../../../core/day-counts.ts'
import { all, column, LIST, type Queries, type Row, value } from '../../database/statement.ts'
import { IDS_OF_CRATE } from '../releases-view.ts'

/** The downloads of a release, a crate or the registry. */
export interface Downloads {
  readonly total: number
  /** Null when there were none yet. */
  readonly days: DayCounts | null
}

/** The downloads of a release or crate that was never downloaded. */
export const NO_DOWNLOADS: Downloads = { total: 0, days: null }

/** A row of `release_downloads` or `crate_downloads`. */
export type Stored = Pick<Row<'release_downloads'>, 'total' | 'last_day' | 'days'> & {
  readonly id: number
}

/** A row of `crate_downloads`, with the times when its files are rendered. */
export type Due = Stored & Pick<Row<'crate_downloads'>, 'shown_at' | 'due_at'>

/** The columns of `Stored` besides the id. */
export const STORED = 'total, last_day, days'
/** Selects the rows of releases and of crates by their ids. */
export const RELEASE_ROWS = `SELECT release_id AS id, ${STORED} FROM release_downloads
  WHERE release_id IN ${LIST}`
export const CRATE_ROWS = `SELECT crate_id AS id, ${STORED}, shown_at, due_at FROM crate_downloads
  WHERE crate_id IN ${LIST}`

/** Returns the rows of a statement by their ids. */
export async function readRows<R extends Stored = Stored>(
  db: Queries,
  sql: string,
  ids: readonly number[],
): Promise<Map<number, R>> {
  const rows = ids.length === 0 ? [] : await all<R>(db, sql, ids)
  return new Map(rows.map(row => [row.id, row]))
}

/** Returns the days of a row; null without one. */
export function daysOf(row: Pick<Stored, 'last_day' | 'days'> | undefined): DayCounts | null {
  return row ? unpackDays({ last: row.last_day, counts: JSON.parse(row.days) as number[] }) : null
}

/** Returns the downloads of crates or releases by their ids; those without any are left out. */
export async function readDownloads(
  db: Queries,
  rows: typeof CRATE_ROWS | typeof RELEASE_ROWS,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Downloads>> {
  const stored = await readRows(db, rows, ids)
  return new Map(Array.from(stored, ([id, row]) => [id, { total: row.total, days: daysOf(row) }]))
}

/** How often something was downloaded, in total and in the last 90 days. */
export interface DownloadNumbers {
  readonly total: number
  readonly recent: number
}

/** Returns the numbers of crates by their ids; crates that were never downloaded are left out. */
export async function downloadNumbers(
  db: Queries,
  crateIds: readonly number[],
  now: Date,
): Promise<ReadonlyMap<number, DownloadNumbers>> {
  const byCrate = await readDownloads(db, CRATE_ROWS, crateIds)
  return new Map(
    Array.from(byCrate, ([id, { total, days }]) => {
      return [id, { total, recent: sumUntil(days, dayOf(now)) }]
    }),
  )
}

/** Returns the total downloads of the versions of a crate, by id. */
export async function versionTotals(
  db: Queries,
  crateId: number,
): Promise<ReadonlyMap<number, number>> {
  const sql = `SELECT release_id AS id, total FROM release_downloads
    WHERE release_id IN ${IDS_OF_CRATE}`
  const rows = await all<{ id: number; total: number }>(db, sql, crateId)
  return new Map(rows.map(row => [row.id, row.total]))
}

/** Returns the downloads of the whole registry, also of what was deleted since. */
export async function registryDownloads(db: Queries, now: Date): Promise<Downloads> {
  const total = await value<number>(db, 'SELECT sum(n) FROM registry_downloads')
  if (total === null) return NO_DOWNLOADS
  const sql = 'SELECT day, n FROM registry_downloads WHERE day <= ? ORDER BY day DESC LIMIT 90'
  const rows = await all<Row<'registry_downloads'>>(db, sql, dayOf(now) + 1)
  return { total, days: new Map(rows.map(({ day, n }) => [day, n])) }
}

/** Returns the crates with the most downloads, at most `limit`. */
export function mostDownloaded(db: Queries, limit: number): Promise<number[]> {
  const sql = `SELECT crate_id FROM crate_downloads
    JOIN listings USING (crate_id) ORDER BY total DESC LIMIT ?`
  return column(db, sql, limit)
}

/** The most crates that are compared to find the most recently downloaded ones. */
const COMPARED = 200

/**
 * Returns the crates with the most downloads in the 90 days until `now`, at most `limit`. The
 * stored numbers are those of the last download: they are never too small, so only the first ones
 * are compared.
 */
export async function mostRecentlyDownloaded(
  db: Queries,
  limit: number,
  now: Date,
): Promise<number[]> {
  const sql = `SELECT crate_id AS id, ${STORED} FROM crate_downloads
    JOIN listings USING (crate_id) ORDER BY recent DESC LIMIT ${COMPARED}`
  const rows = (await all<Stored>(db, sql)).map(row => {
    return { id: row.id, recent: sumUntil(daysOf(row), dayOf(now)) }
  })
  const sorted = rows.filter(row => row.recent > 0).sort((a, b) => b.recent - a.recent)
  return sorted.slice(0, limit).map(row => row.id)
}
