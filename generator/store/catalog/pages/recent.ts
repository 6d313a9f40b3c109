import type { About } from '../../../../core/manifest/manifest.ts'
import type { Name } from '../../../../core/name.ts'
import type { Version } from '../../../../core/version.ts'
import type { Queries } from '../change.ts'

/** A version as the list of updates shows it. */
export interface RecentRelease {
  readonly name: Name
  readonly version: Version
  readonly yanked: boolean
  readonly about: About
  readonly publishedAt: string
  readonly publishedBy: string | null
}

/** The versions that were published last, newest first, without those of unknown time. */
export async function recentReleases(db: Queries, limit: number): Promise<RecentRelease[]> {
  const rows = await db
    .selectFrom('releases')
    .innerJoin('crates', 'crates.id', 'releases.crate_id')
    .leftJoin('users', 'users.id', 'releases.published_by')
    .select([
      'crates.name',
      'releases.version',
      'releases.yanked',
      'releases.about',
      'releases.published_at',
    ])
    .select('users.login')
    .where('releases.published_at', 'is not', null)
    .orderBy('releases.published_at', 'desc')
    .orderBy('releases.id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(row => ({
    name: row.name as Name,
    version: row.version as Version,
    yanked: row.yanked === 1,
    about: JSON.parse(row.about) as About,
    publishedAt: row.published_at ?? '',
    publishedBy: row.login,
  }))
}

/** Ids of the crates with several versions that got one last, newest first. */
export async function updatedCrates(db: Queries, limit: number): Promise<number[]> {
  const rows = await db
    .selectFrom('listings')
    .select('crate_id')
    .where('versions', '>', 1)
    .orderBy('updated_at', 'desc')
    .orderBy('crate_id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(row => row.crate_id)
}

/** Ids of the crates that came last, newest first. */
export async function newCrates(db: Queries, limit: number): Promise<number[]> {
  const rows = await db
    .selectFrom('crates')
    .innerJoin('listings', 'listings.crate_id', 'crates.id')
    .select('crates.id')
    .orderBy('crates.created_at', 'desc')
    .orderBy('crates.id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(row => row.id)
}
