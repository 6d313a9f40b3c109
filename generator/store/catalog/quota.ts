import { issue, Refusal } from '../../../core/error/error.ts'
import { canonicalName } from '../../../core/name.ts'
import { timestamp } from '../../../core/timestamp.ts'
import type { Database } from '../database/database.ts'
import type { Publication } from './change.ts'
import { type Change, type CrateRecord, findCrate, findTwin } from './record.ts'

const DAY = 86_400_000

/** Most within 24 hours; 0 is no limit. */
export interface Quota {
  readonly new_crates_per_day: number
  readonly versions_per_day: number
}

/**
 * Refuses one crate too many of a user (`limits.new_crates_per_day`), and one new version too many of a crate
 * (`limits.versions_per_day`). A retry of what is there counts as nothing, and the operator at the command line may do
 * as they like.
 */
export async function checkQuota(
  database: Database,
  release: Pick<Publication, 'name' | 'version'>,
  quota: Quota,
  change: Change,
): Promise<void> {
  const { user } = change
  if (!user || (quota.new_crates_per_day === 0 && quota.versions_per_day === 0)) return
  const crate = await findCrate(database, canonicalName(release.name))
  const now = Date.parse(change.at)
  if (!crate)
    await checkNewCrates(
      database,
      { id: user.id, login: change.actor },
      quota.new_crates_per_day,
      now,
    )
  else if (!(await findTwin(database, crate.id, release.version))) {
    await checkVersions(database, crate, quota.versions_per_day, now)
  }
}

async function checkNewCrates(
  database: Database,
  user: { readonly id: number; readonly login: string },
  max: number,
  now: number,
): Promise<void> {
  if (max === 0) return
  const recent = await database
    .selectFrom('crates')
    .select('created_at')
    .where('created_at', '>', timestamp(new Date(now - DAY)))
    .where(
      eb =>
        eb
          .selectFrom('releases')
          .select('published_by')
          .whereRef('crate_id', '=', 'crates.id')
          .orderBy('id')
          .limit(1),
      '=',
      user.id,
    )
    .orderBy('created_at', 'desc')
    .limit(max)
    .execute()
  const oldest = recent[max - 1]?.created_at
  if (oldest) {
    throw new Refusal([issue('crates_too_many', { login: user.login, max })], {
      retryAfter: secondsLeft(oldest, now),
    })
  }
}

async function checkVersions(
  database: Database,
  crate: Pick<CrateRecord, 'id' | 'name'>,
  max: number,
  now: number,
): Promise<void> {
  if (max === 0) return
  const recent = await database
    .selectFrom('releases')
    .select('published_at')
    .where('crate_id', '=', crate.id)
    .where('published_at', '>', timestamp(new Date(now - DAY)))
    .orderBy('published_at', 'desc')
    .limit(max)
    .execute()
  const oldest = recent[max - 1]?.published_at
  if (oldest) {
    throw new Refusal([issue('versions_too_many', { name: crate.name, max })], {
      retryAfter: secondsLeft(oldest, now),
    })
  }
}

/** Until something of `at` is a day old. */
function secondsLeft(at: string, now: number): number {
  return Math.max(1, Math.ceil((Date.parse(at) + DAY - now) / 1000))
}
