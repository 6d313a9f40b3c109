import type { Logger } from 'pino'

/** Records the last use of a token or a session by `work`, or skips it. */
export type RecordUse = (now: Date, work: () => Promise<unknown>) => Promise<void>

/** After a failure, nothing is recorded for this long, in milliseconds. */
const PAUSE = 60_000

/**
 * Records last uses one by one. A failure (a full disk) is logged and pauses recording for a
 * minute: reading needs no writing and must go on without it.
 */
export function recordUses(log: Pick<Logger, 'warn'>): RecordUse {
  let last: Promise<void> = Promise.resolve()
  let failedAt = Number.NEGATIVE_INFINITY
  const attempt = async (now: Date, work: () => Promise<unknown>) => {
    if (Math.abs(now.getTime() - failedAt) < PAUSE) return
    try {
      await work()
    } catch (error) {
      failedAt = now.getTime()
      log.warn({ err: error }, 'cannot record when a token or a login was last used; skipped')
    }
  }
  return (now, work) => {
    last = last.then(() => attempt(now, work))
    return last
  }
}
