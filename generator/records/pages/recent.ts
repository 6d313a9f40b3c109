import { all, type Queries } from '../../database/statement.ts'
import type { CrateRecord } from '../crates.ts'
import { PUBLISHER, type ReleaseRecord, recordOf, type Stored } from '../releases.ts'
import { type CrateCard, selectCards } from './cards.ts'

/** A version as shown in the list of updates. */
export interface RecentRelease
  extends Pick<CrateRecord, 'name'>,
    Pick<ReleaseRecord, 'version' | 'yanked' | 'about' | 'publishedBy'> {
  readonly publishedAt: string
}

/** Returns the last published versions, newest first, except those of unknown time. */
export async function recentReleases(db: Queries, limit: number): Promise<RecentRelease[]> {
  const rows = await all<Stored<RecentRelease>>(
    db,
    `SELECT crates.name, releases.version, releases.yanked, releases.about,
        releases.published_at AS "publishedAt", ${PUBLISHER} AS "publishedBy"
      FROM releases JOIN crates ON crates.id = releases.crate_id
      LEFT JOIN users ON users.id = releases.published_by
      WHERE releases.published_at IS NOT NULL
      ORDER BY releases.published_at DESC, releases.id DESC LIMIT ?`,
    limit,
  )
  return rows.map(recordOf)
}

/** Returns the most recently updated crates that have several versions, newest first. */
export function updatedCrates(db: Queries, limit: number): Promise<CrateCard[]> {
  const rest =
    'WHERE listings.versions > 1 ORDER BY listings.updated_at DESC, listings.crate_id DESC LIMIT ?'
  return selectCards(db, rest, limit)
}
