// generator/records/downloads: Counts of downloads in the records. The daemon and imports of logs
// call it; it never sees a request.
import { addDays, type DayCounts, dayOf, packDays, sumUntil } from '../../../core/day-counts.ts'
import { canonicalName, type Name } from '../../../core/name.ts'
import { after, latest, timestamp } from '../../../core/timestamp.ts'
import { type Version, versionIdentity } from '../../../core/version.ts'
import type { Database } from '../../database/connection.ts'
import { all, insertAll, LIST, type Queries, run, upsert, value } from '../../database/statement.ts'
import { lastChange, marksOf, SITE, setMarks } from '../marks.ts'
import { DOWNLOADED, IDS_OF_CRATE } from '../releases-view.ts'
import {
  CRATE_ROWS,
  type Due,
  daysOf,
  RELEASE_ROWS,
  readRows,
  STORED,
  type Stored,
} from './read.ts'

/** The shortest time between two renderings of the downloads of a crate. */
const SHOWN_EVERY = '1h'

/** Downloads of a release on a day, counted as in `dayOf`. */
export interface DownloadCount {
  readonly release: DownloadedRelease
  readonly day: number
  readonly n: number
}

/** A release as it was requested: by name and version, or by the checksum of its bytes. */
export type DownloadedRelease =
  | { readonly name: Name; readonly version: Version }
  | { readonly cksum: string }

/**
 * Adds downloads to the releases, their crates and the registry; call it in a transaction with at
 * most some thousand counts. Returns those whose release does not exist.
 */
export async function addDownloads(
  tx: Queries,
  counts: readonly DownloadCount[],
  now: Date,
): Promise<DownloadCount[]> {
  const matches = await findReleases(tx, counts)
  const releases = new Map<number, Map<number, number>>()
  const crates = new Map<number, Map<number, number>>()
  const registry = new Map<number, number>()
  for (const [at, { day, n }] of counts.entries()) {
    const release = matches.get(at)
    if (!release) continue
    addTo(releases, release.id, day, n)
    addTo(crates, release.crate, day, n)
    registry.set(day, (registry.get(day) ?? 0) + n)
  }
  if (registry.size > 0) {
    await addToReleases(tx, releases, dayOf(now))
    await addToCrates(tx, crates, now)
    const days = Array.from(registry, ([day, n]) => ({ day, n }))
    const added = 'ON CONFLICT (day) DO UPDATE SET n = registry_downloads.n + excluded.n'
    await insertAll(tx, 'registry_downloads', days, added)
  }
  return counts.filter((_, at) => !matches.has(at))
}

function addTo(to: Map<number, Map<number, number>>, id: number, day: number, n: number): void {
  const days = to.get(id) ?? new Map<number, number>()
  to.set(id, days.set(day, (days.get(day) ?? 0) + n))
}

/** Returns the ids of the releases that exist, by the positions in `counts`. */
async function findReleases(tx: Queries, counts: readonly DownloadCount[]) {
  const counted = counts.map(({ release }, at) =>
    'cksum' in release
      ? [at, release.cksum]
      : [at, canonicalName(release.name), versionIdentity(release.version)],
  )
  const rows = await all<{ at: number; id: number; crate: number }>(
    tx,
    DOWNLOADED,
    counted.filter(({ length }) => length === 3),
    counted.filter(({ length }) => length === 2),
  )
  return new Map(rows.map(row => [row.at, row]))
}

type Added = ReadonlyMap<number, DayCounts>

async function addToReleases(tx: Queries, added: Added, today: number): Promise<void> {
  const before = await readRows(tx, RELEASE_ROWS, [...added.keys()])
  const rows = Array.from(added, ([id, more]) => {
    const days = addDays(daysOf(before.get(id)), more, today)
    return { release_id: id, total: sum(more), ...columnsOf(days) }
  })
  const conflict = `ON CONFLICT (release_id) DO UPDATE SET
    total = release_downloads.total + excluded.total,
    last_day = excluded.last_day, days = excluded.days`
  await insertAll(tx, 'release_downloads', rows, conflict)
}

async function addToCrates(tx: Queries, added: Added, now: Date): Promise<void> {
  const before = await readRows<Due>(tx, CRATE_ROWS, [...added.keys()])
  const rows = Array.from(added, ([id, more]) => {
    const stored = before.get(id)
    const days = addDays(daysOf(stored), more, dayOf(now))
    const isAhead = stored?.shown_at && stored.shown_at > latest(now)
    const next = stored?.shown_at && !isAhead ? after(new Date(stored.shown_at), SHOWN_EVERY) : now
    const due = timestamp(next > now ? next : now)
    return {
      crate_id: id,
      total: sum(more),
      ...columnsOf(days),
      recent: sum(days),
      due_at: stored?.due_at && stored.due_at < due ? stored.due_at : due,
    }
  })
  const conflict = `ON CONFLICT (crate_id) DO UPDATE SET
    total = crate_downloads.total + excluded.total, last_day = excluded.last_day,
    days = excluded.days, recent = excluded.recent, due_at = excluded.due_at`
  await insertAll(tx, 'crate_downloads', rows, conflict)
}

function columnsOf(days: DayCounts): Pick<Stored, 'last_day' | 'days'> {
  const { last, counts } = packDays(days)
  return { last_day: last, days: JSON.stringify(counts) }
}

function sum(days: DayCounts): number {
  let total = 0
  for (const n of days.values()) total += n
  return total
}

/** When files are rendered again without new downloads, because old days are over. */
const SHOWN_AGAIN = '7d'

/** Marks at most `limit` due files with downloads of crates. Returns how many it marked. */
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
    WHERE release_id IN ${IDS_OF_CRATE}`
  const rows = await all<Stored>(tx, sql, crateId)
  await markDownloads(tx, [crateId], now)
  if (rows.length === 0) {
    await run(tx, 'DELETE FROM crate_downloads WHERE crate_id = ?', crateId)
    return
  }
  let days: DayCounts = new Map()
  for (const row of rows) days = addDays(days, daysOf(row) ?? new Map(), dayOf(now))
  await upsert(tx, 'crate_downloads', ['crate_id'], {
    crate_id: crateId,
    total: rows.reduce((total, row) => total + row.total, 0),
    ...columnsOf(days),
    recent: sum(days),
  })
}
