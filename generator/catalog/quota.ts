import type { Database } from '../database.ts'
import { issue, Refusal } from '../error.ts'
import { canonicalName } from '../name.ts'
import { timestamp } from '../timestamp.ts'
import type { Publication } from './change.ts'
import { type Change, findCrate, findTwin } from './record.ts'

const DAY = 86_400_000

/**
 * Refuses one new version too many of a crate within 24 hours (`limits.versions_per_day`; 0 is no limit). A retry of
 * what is there counts as nothing, and the operator at the command line may do as they like.
 */
export async function checkVersionsPerDay(
  database: Database,
  release: Pick<Publication, 'name' | 'version'>,
  max: number,
  change: Change,
): Promise<void> {
  if (max === 0 || !change.user) return
  const crate = await findCrate(database, canonicalName(release.name))
  if (!crate || (await findTwin(database, crate.id, release.version))) return
  const now = Date.parse(change.at)
  const recent = await database
    .selectFrom('releases')
    .select('published_at')
    .where('crate_id', '=', crate.id)
    .where('published_at', '>', timestamp(new Date(now - DAY)))
    .orderBy('published_at', 'desc')
    .limit(max)
    .execute()
  const oldest = recent[max - 1]?.published_at
  if (!oldest) return
  const retryAfter = Math.max(1, Math.ceil((Date.parse(oldest) + DAY - now) / 1000))
  throw new Refusal([issue('versions_too_many', { name: crate.name, max })], { retryAfter })
}
