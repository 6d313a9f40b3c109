import { addDays, dayOf, sumUntil } from '../../../core/day-counts.ts'
import { canonicalName, type Name } from '../../../core/name.ts'
import { after, timestamp } from '../../../core/timestamp.ts'
import { type Version, versionIdentity } from '../../../core/version.ts'
import { all, insertAll, type Queries } from '../../database/statement.ts'
import { CRATE_ROWS, type Due, daysOf, RELEASE_ROWS, readRows } from './read.ts'

/** How often the files with the downloads of a crate are rendered at most. */
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
  const found = await findReleases(tx, counts)
  const releases = new Map<number, Map<number, number>>()
  const crates = new Map<number, Map<number, number>>()
  const registry = new Map<number, number>()
  for (const [at, { day, n }] of counts.entries()) {
    const release = found.get(at)
    if (!release) continue
    addTo(releases, release.id, day, n)
    addTo(crates, release.crate, day, n)
    registry.set(day, (registry.get(day) ?? 0) + n)
  }
  if (registry.size > 0) {
    await addToReleases(tx, releases)
    await addToCrates(tx, crates, now)
    const days = Array.from(registry, ([day, n]) => ({ day, n }))
    const added = 'ON CONFLICT (day) DO UPDATE SET n = registry_downloads.n + excluded.n'
    await insertAll(tx, 'registry_downloads', days, added)
  }
  return counts.filter((_, at) => !found.has(at))
}

function addTo(to: Map<number, Map<number, number>>, id: number, day: number, n: number): void {
  const days = to.get(id) ?? new Map<number, number>()
  to.set(id, days.set(day, (days.get(day) ?? 0) + n))
}

/** Returns the ids of the releases that exist, by the positions in `counts`. */
async function findReleases(tx: Queries, counts: readonly DownloadCount[]) {
  const given = counts.map(({ release }, at) =>
    'cksum' in release
      ? [at, release.cksum]
      : [at, canonicalName(release.name), versionIdentity(release.version)],
  )
  const rows = await all<{ at: number; id: number; crate: number }>(
    tx,
    `SELECT CAST(given.value ->> 0 AS INTEGER) AS at, releases.id, releases.crate_id AS crate
      FROM json_each(?) AS given JOIN crates ON crates.canonical = given.value ->> 1
      JOIN releases ON releases.crate_id = crates.id
        AND releases.identity = given.value ->> 2
    UNION ALL SELECT CAST(given.value ->> 0 AS INTEGER), releases.id, releases.crate_id
      FROM json_each(?) AS given JOIN releases ON releases.cksum = given.value ->> 1`,
    given.filter(({ length }) => length === 3),
    given.filter(({ length }) => length === 2),
  )
  return new Map(rows.map(row => [row.at, row]))
}

type Added = ReadonlyMap<number, ReadonlyMap<number, number>>

async function addToReleases(tx: Queries, added: Added): Promise<void> {
  const before = await readRows(tx, RELEASE_ROWS, [...added.keys()])
  const rows = Array.from(added, ([id, more]) => {
    const { last, counts } = addDays(daysOf(before.get(id)), more)
    return { release_id: id, total: sum(more), last_day: last, days: JSON.stringify(counts) }
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
    const total = addDays(daysOf(stored), more)
    const next = stored?.shown_at ? after(new Date(stored.shown_at), SHOWN_EVERY) : now
    const due = timestamp(next > now ? next : now)
    return {
      crate_id: id,
      total: sum(more),
      last_day: total.last,
      days: JSON.stringify(total.counts),
      recent: sumUntil(total, dayOf(now)),
      due_at: stored?.due_at && stored.due_at < due ? stored.due_at : due,
    }
  })
  const conflict = `ON CONFLICT (crate_id) DO UPDATE SET
    total = crate_downloads.total + excluded.total, last_day = excluded.last_day,
    days = excluded.days, recent = excluded.recent, due_at = excluded.due_at`
  await insertAll(tx, 'crate_downloads', rows, conflict)
}

function sum(days: ReadonlyMap<number, number>): number {
  let total = 0
  for (const n of days.values()) total += n
  return total
}
