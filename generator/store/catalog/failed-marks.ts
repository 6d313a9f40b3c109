import { after } from '../../../core/duration.ts'
import { type Issue, issue } from '../../../core/error/error.ts'
import { timestamp } from '../../../core/timestamp.ts'
import type { MarkKind } from '../database/mark-kinds.ts'
import type { Queries } from './change.ts'
import type { Mark } from './marks.ts'

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
  const mark = db
    .selectFrom('marks')
    .select('attempts')
    .where('kind', '=', kind)
    .where('subject', '=', subject)
  const attempts = ((await mark.executeTakeFirst())?.attempts ?? 0) + 1
  const pause = PAUSES[Math.min(attempts, PAUSES.length) - 1] ?? PAUSES[0]
  const text = error instanceof Error ? error.message : String(error)
  await db
    .updateTable('marks')
    .set({
      attempts,
      retry_at: timestamp(after(now, pause)),
      error: text.slice(0, ERROR_MAX),
    })
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .where('generation', '<=', generation)
    .execute()
}

/** Makes all failed work due at once. */
export async function retryAll(db: Queries): Promise<void> {
  await db.updateTable('marks').set({ retry_at: null }).where('retry_at', 'is not', null).execute()
}

/** When the next failed work is due; null when none is waiting. */
export async function nextRetry(db: Queries): Promise<Date | null> {
  const row = await db
    .selectFrom('marks')
    .select(db.fn.min('retry_at').as('at'))
    .where('retry_at', 'is not', null)
    .executeTakeFirst()
  return row?.at ? new Date(row.at) : null
}

/** How much of each kind of work failed; kinds without any are left out. */
export async function countFailedMarks(db: Queries): Promise<{ kind: MarkKind; n: number }[]> {
  return db
    .selectFrom('marks')
    .select(['kind', db.fn.countAll<number>().as('n')])
    .where('retry_at', 'is not', null)
    .groupBy('kind')
    .execute()
}

/** Work that failed and waits to be tried again, what is due first; at most 100. */
export async function listFailedMarks(db: Queries): Promise<FailedMark[]> {
  const rows = await db
    .selectFrom('marks')
    .leftJoin('releases', join =>
      join
        .onRef('releases.id', '=', 'marks.subject')
        .on('marks.kind', 'in', ['file', 'release', 'source']),
    )
    .leftJoin('crates as owner', 'owner.id', 'releases.crate_id')
    .leftJoin('crates', join =>
      join
        .onRef('crates.id', '=', 'marks.subject')
        .on('marks.kind', 'in', ['index', 'whole', 'git', 'page', 'list']),
    )
    .select(['marks.kind', 'marks.attempts', 'marks.retry_at', 'marks.error'])
    .select(['releases.version', 'owner.name as owner', 'crates.name'])
    .where('marks.retry_at', 'is not', null)
    .orderBy('marks.retry_at')
    .limit(LISTED)
    .execute()
  return rows.map(row => ({
    kind: row.kind,
    crate: row.owner ?? row.name,
    version: row.version,
    attempts: row.attempts,
    retryAt: row.retry_at ?? '',
    error: row.error ?? '',
  }))
}

/** Failed work as objections. */
export function failedIssues(failed: readonly FailedMark[]): Issue[] {
  return failed.map(one => {
    const of = [one.crate, one.version].filter(part => part !== null).join(' ')
    return issue('page_failed', { kind: one.kind, of, reason: one.error })
  })
}
