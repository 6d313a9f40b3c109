import { issue, Refusal } from '../../../core/error/error.ts'
import { timestamp } from '../../../core/timestamp.ts'
import type { Change, Queries } from './change.ts'
import type { Target } from './target.ts'

const DAY = 86_400_000

/** Most within 24 hours; 0 is no limit. */
export interface Quota {
  readonly new_crates_per_day: number
  readonly versions_per_day: number
}

/**
 * Refuses one crate too many of a user (`limits.new_crates_per_day`), and one new version too many
 * of a crate (`limits.versions_per_day`). A retry counts as nothing, and the operator at the
 * command line has no limits.
 */
export async function checkQuota(
  db: Queries,
  { crate, taken }: Target,
  quota: Quota,
  change: Change,
): Promise<void> {
  const { user, actor, at } = change
  if (!user || (quota.new_crates_per_day === 0 && quota.versions_per_day === 0)) return
  if (taken) return
  const max = crate ? quota.versions_per_day : quota.new_crates_per_day
  if (max === 0) return
  const since = timestamp(new Date(Date.parse(at) - DAY))
  const times = crate
    ? await versionTimes(db, crate.id, since, max)
    : await crateTimes(db, user.id, since, max)
  const oldest = times[max - 1]
  if (oldest === undefined) return
  const objection = crate
    ? issue('versions_too_many', { name: crate.name, max })
    : issue('crates_too_many', { login: actor, max })
  const retryAfter = Math.ceil((Date.parse(oldest) + DAY - Date.parse(at)) / 1000)
  throw new Refusal([objection], { retryAfter: Math.max(1, retryAfter) })
}

/** When the newest crates that a user published first came, the newest first. */
async function crateTimes(db: Queries, userId: number, since: string, max: number) {
  const rows = await db
    .selectFrom('crates')
    .select('created_at')
    .where('created_at', '>', since)
    .where(
      eb =>
        eb
          .selectFrom('releases')
          .select('published_by')
          .whereRef('crate_id', '=', 'crates.id')
          .orderBy('id')
          .limit(1),
      '=',
      userId,
    )
    .orderBy('created_at', 'desc')
    .limit(max)
    .execute()
  return rows.map(row => row.created_at)
}

/** When the newest versions of a crate came, the newest first. */
async function versionTimes(db: Queries, crateId: number, since: string, max: number) {
  const rows = await db
    .selectFrom('releases')
    .select('published_at')
    .where('crate_id', '=', crateId)
    .where('published_at', '>', since)
    .orderBy('published_at', 'desc')
    .limit(max)
    .execute()
  return rows.flatMap(row => row.published_at ?? [])
}
