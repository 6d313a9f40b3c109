import { after } from '../../../core/duration.ts'
import { type Issue, issue } from '../../../core/error/error.ts'
import { timestamp } from '../../../core/timestamp.ts'
import type { MarkKind } from '../database/mark-kinds.ts'
import { all, type Queries, run, value } from '../database/statement.ts'
import type { Mark, MarkCount } from './marks.ts'

/** Pauses before failed work is tried again; the last one is repeated. */
const PAUSES = ['1m', '5m', '30m', '2h', '6h'] as const

/** Most failures that are listed; a broken disk makes one for every page. */
const LISTED = 100

/** Longest text of an error that is kept. */
const ERROR_MAX = 500

/** Work that failed, and when it is tried again. */
export interface FailedMark {
  readonly kind: MarkKind
  /** The crate it is about, where it is about one. */
  readonly crate: string | null
  readonly version: string | null
  readonly attempts: number
  readonly retryAt: string
  readonly error: string
}

/**
 * Remembers that the work of a mark failed, and puts it off; a mark renewed since is due at once.
 */
export async function postponeMark(
  db: Queries,
  { kind, subject, generation }: Mark,
  error: unknown,
  now: Date,
): Promise<void> {
  const before = 'SELECT attempts FROM marks WHERE kind = ? AND subject = ?'
  const attempts = ((await value<number>(db, before, kind, subject)) ?? 0) + 1
  const pause = PAUSES[Math.min(attempts, PAUSES.length) - 1] ?? PAUSES[0]
  const text = error instanceof Error ? error.message : String(error)
  await run(
    db,
    `UPDATE marks SET attempts = ?, retry_at = ?, error = ?
      WHERE kind = ? AND subject = ? AND generation <= ?`,
    attempts,
    timestamp(after(now, pause)),
    text.slice(0, ERROR_MAX),
    kind,
    subject,
    generation,
  )
}

/** Makes all failed work due at once. */
export async function retryAll(db: Queries): Promise<void> {
  await run(db, 'UPDATE marks SET retry_at = NULL WHERE retry_at IS NOT NULL')
}

/** When the next failed work is due; null when none is waiting. */
export async function nextRetry(db: Queries): Promise<Date | null> {
  const text = 'SELECT min(retry_at) FROM marks WHERE retry_at IS NOT NULL'
  const at = await value<string>(db, text)
  return at === null ? null : new Date(at)
}

/** How much of each kind of work failed; kinds without any are left out. */
export function countFailedMarks(db: Queries): Promise<MarkCount[]> {
  return all(db, 'SELECT kind, count(*) AS n FROM marks WHERE retry_at IS NOT NULL GROUP BY kind')
}

/** Work that failed and waits to be tried again, what is due first; at most 100. */
export function listFailedMarks(db: Queries): Promise<FailedMark[]> {
  return all(
    db,
    `SELECT marks.kind, coalesce(owner.name, crates.name) AS crate, releases.version,
      marks.attempts, marks.retry_at AS "retryAt", coalesce(marks.error, '') AS error
      FROM marks
      LEFT JOIN releases
        ON releases.id = marks.subject AND marks.kind IN ('file', 'release', 'source')
      LEFT JOIN crates AS owner ON owner.id = releases.crate_id
      LEFT JOIN crates ON crates.id = marks.subject
        AND marks.kind IN ('index', 'whole', 'git', 'page', 'list')
      WHERE marks.retry_at IS NOT NULL ORDER BY marks.retry_at LIMIT ?`,
    LISTED,
  )
}

/** Failed work as objections. */
export function failedIssues(failed: readonly FailedMark[]): Issue[] {
  return failed.map(mark => {
    const of = [mark.crate, mark.version].filter(part => part !== null).join(' ')
    return issue('page_failed', { kind: mark.kind, of, reason: mark.error })
  })
}
