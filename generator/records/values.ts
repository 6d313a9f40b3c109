import { latest } from '../../core/timestamp.ts'
import { column, type Queries, run, upsert, value } from '../database/statement.ts'

/** Background work that failed: what it was, when, and why. */
export interface Failure {
  readonly what: string
  readonly at: string
  readonly why: string
  /** When the same work has succeeded since. */
  readonly mended?: string
}

const FAILURE = 'failure:'

/** The key of the time when the last backup was complete. */
export const LAST_BACKUP = 'backup'

/** The key of the settings of access that the last daemon had. */
export const ACCESS = 'access'

/** The key of the value that says that there is a git index; without one no marks are set for it. */
export const GIT_FOLLOWED = 'git_followed'

/** Reads a stored value, such as what the public tree was last rendered with; null when unset. */
export function readValue(db: Queries, key: string): Promise<string | null> {
  return value(db, 'SELECT value FROM facts WHERE key = ?', key)
}

/** Returns whether changes are marked for the git index. */
export async function isFollowedForGit(db: Queries): Promise<boolean> {
  return (await readValue(db, GIT_FOLLOWED)) !== null
}

/** Reads a time in seconds since 1970; 0 when unset, or set by a clock that was wrong. */
export async function readTime(db: Queries, key: string, now: Date): Promise<number> {
  const at = await readValue(db, key)
  return at !== null && at <= latest(now) ? Date.parse(at) / 1000 : 0
}

/** Reads a stored value that is JSON; null when unset. */
export async function readJsonValue<T>(db: Queries, key: string): Promise<T | null> {
  return JSON.parse((await readValue(db, key)) ?? 'null')
}

/** Stores a value; null removes it. */
export async function writeValue(db: Queries, key: string, text: string | null): Promise<void> {
  if (text === null) await run(db, 'DELETE FROM facts WHERE key = ?', key)
  else await upsert(db, 'facts', ['key'], { key, value: text })
}

/** Records that background work failed, for the operator; keeps the last failure of each kind. */
export function recordFailure(db: Queries, failure: Failure): Promise<void> {
  return writeValue(db, `${FAILURE}${failure.what}`, JSON.stringify(failure))
}

/** Records that work whose last failure is recorded has succeeded. */
export async function recordMended(db: Queries, what: string, mended: string): Promise<void> {
  const failure = await readJsonValue<Failure>(db, `${FAILURE}${what}`)
  if (failure && !failure.mended) await recordFailure(db, { ...failure, mended })
}

/** Returns the last failure of each kind of background work. */
export async function listFailures(db: Queries): Promise<Failure[]> {
  const sql = 'SELECT value FROM facts WHERE key >= ? AND key < ?'
  const failures = await column<string>(db, sql, FAILURE, `${FAILURE}~`)
  return failures.map(failure => JSON.parse(failure) as Failure)
}
