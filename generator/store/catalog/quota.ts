import { issue, Refusal } from '../../../core/error/error.ts'
import { timestamp } from '../../../core/timestamp.ts'
import { column, type Queries } from '../database/statement.ts'
import type { Change } from './change.ts'
import type { Target } from './target.ts'

const DAY = 86_400_000

/** Limits for 24 hours; 0 means no limit. */
export interface Quota {
  readonly new_crates_per_day: number
  readonly versions_per_day: number
}

/**
 * Refuses a new crate beyond the user's `limits.new_crates_per_day`, and a new version beyond the
 * crate's `limits.versions_per_day`. A retry does not count, and there are no limits for the
 * operator at the command line.
 */
export async function checkQuota(
  db: Queries,
  { crate, taken }: Target,
  quota: Quota,
  { user, actor, at }: Change,
): Promise<void> {
  const max = crate ? quota.versions_per_day : quota.new_crates_per_day
  if (!user || taken || max === 0) return
  const since = timestamp(new Date(Date.parse(at) - DAY))
  const [text, id] = crate ? [VERSION_TIMES, crate.id] : [CRATE_TIMES, user.id]
  const oldest = (await column<string>(db, text, since, id, max))[max - 1]
  if (oldest === undefined) return
  const objection = crate
    ? issue('versions_too_many', { name: crate.name, max })
    : issue('crates_too_many', { login: actor, max })
  const retryAfter = Math.ceil((Date.parse(oldest) + DAY - Date.parse(at)) / 1000)
  throw new Refusal([objection], { retryAfter: Math.max(1, retryAfter) })
}

/** Selects when the crates whose first release a user published were created, newest first. */
const CRATE_TIMES = `SELECT created_at FROM crates
  WHERE created_at > ? AND ? =
    (SELECT published_by FROM releases WHERE crate_id = crates.id ORDER BY id LIMIT 1)
  ORDER BY created_at DESC LIMIT ?`

/** Selects when the versions of a crate were published, newest first. */
const VERSION_TIMES = `SELECT published_at FROM releases
  WHERE published_at > ? AND crate_id = ? ORDER BY published_at DESC LIMIT ?`
