import type { Logger } from 'pino'

/** Notes when something was used last: does the work, or leaves it. */
export type NoteUse = (now: Date, work: () => Promise<unknown>) => Promise<void>

/** After a failure nothing is noted for so long, in milliseconds. */
const PAUSE = 60_000

/**
 * Notes last uses one after the other. When that fails, on a full disk or beside a process that keeps the database to
 * itself, it is logged and left for a minute: reading needs no writing, and must go on without it.
 */
export function noteUses(log: Pick<Logger, 'warn'>): NoteUse {
  let last: Promise<void> = Promise.resolve()
  let failedAt = Number.NEGATIVE_INFINITY
  const attempt = async (now: Date, work: () => Promise<unknown>) => {
    if (Math.abs(now.getTime() - failedAt) < PAUSE) return
    try {
      await work()
    } catch (error) {
      failedAt = now.getTime()
      log.warn(
        { err: error },
        'when a token or a login was used last could not be noted; going on without',
      )
    }
  }
  return (now, work) => {
    last = last.then(() => attempt(now, work))
    return last
  }
}
