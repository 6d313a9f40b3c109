import { addDays, type DayCounts, dayOf, sumUntil } from '../../../core/day-counts.ts'
import { after, timestamp } from '../../../core/timestamp.ts'
import type { Database } from '../../database/connection.ts'
import { all, LIST, type Queries, run, upsert, value } from '../../database/statement.ts'
import { lastChange, marksOf, SITE, setMarks } from '../marks.ts'
import { type Due, daysOf, STORED, type Stored } from './read.ts'

/** When files are rendered again without new downloads, because old days are over. */
const SHOWN_AGAIN = '7d'

/**
 * Marks the files with the downloads of crates for which it is time, at most `limit` of them.
 * Returns how many it marked.
 */
export async function markDueDownloads(tx: Queries, now: Date, limit: number): Promise<number> {
  const sql = `SELECT crate_id AS id, ${STORED}, shown_at FROM crate_downloads
    WHERE due_at <= ? ORDER BY due_at LIMIT ?`
  const rows = await all<Stored & Pick<Due, 'shown_at'>>(tx, sql, timestamp(now), limit)
  if (rows.length === 0) return 0
  const isPast = (row: Stored) => sumUntil(daysOf(row), dayOf(now)) === 0
  await run(
    tx,
    `UPDATE crate_downloads SET shown_at = ?,
      due_at = CASE WHEN crate_id IN ${LIST} THEN NULL ELSE ? END
      WHERE crate_id IN ${LIST}`,
    timestamp(now),
    rows.filter(isPast).map(row => row.id),
    timestamp(after(now, SHOWN_AGAIN)),
    rows.map(row => row.id),
  )
  await markDownloads(tx, [SITE, ...rows.map(row => row.id)], now)
  // Pages begin to lead to files, which are rendered before them.
  const first = rows.flatMap(row => (row.shown_at === null ? [row.id] : []))
  await setMarks(tx, marksOf('page', first), await lastChange(tx))
  return rows.length
}

/** Marks with the time, because no audit event makes these marks newer than the ones before. */
function markDownloads(tx: Queries, subjects: readonly number[], now: Date): Promise<void> {
  return setMarks(tx, marksOf('downloads', subjects), Math.floor(now.getTime() / 1000))
}

const BATCH = 1000

/** Marks all files for which it is time. */
export async function markAllDueDownloads(db: Database, now: Date): Promise<void> {
  while (await hasDueDownloads(db, now))
    await db.transaction(tx => markDueDownloads(tx, now, BATCH))
}

/** Returns whether files with downloads are due. */
export async function hasDueDownloads(db: Queries, now: Date): Promise<boolean> {
  const sql = 'SELECT 1 FROM crate_downloads WHERE due_at <= ? LIMIT 1'
  return (await value(db, sql, timestamp(now))) !== null
}

/** Adds up the downloads of a crate again, after releases of it were deleted. */
export async function sumDownloads(tx: Queries, crateId: number, now: Date): Promise<void> {
  const sql = `SELECT release_id AS id, ${STORED} FROM release_downloads
    WHERE release_id IN (SELECT id FROM releases WHERE crate_id = ?)`
  const rows = await all<Stored>(tx, sql, crateId)
  await markDownloads(tx, [crateId], now)
  if (rows.length === 0) {
    await run(tx, 'DELETE FROM crate_downloads WHERE crate_id = ?', crateId)
    return
  }
  let days: DayCounts | null = null
  for (const { last_day: last, ...row } of rows) {
    const counts = JSON.parse(row.days) as number[]
    days = addDays(days, new Map(counts.map((n, at) => [last - counts.length + 1 + at, n])))
  }
  await upsert(tx, 'crate_downloads', ['crate_id'], {
    crate_id: crateId,
    total: rows.reduce((total, row) => total + row.total, 0),
    last_day: days?.last ?? 0,
    days: JSON.stringify(days?.counts ?? []),
    recent: sumUntil(days, dayOf(now)),
  })
}
