import { Mutex } from '../../core/async/mutex.ts'
import { timestamp } from '../../core/timestamp.ts'

/** Lets `work` record `now` as the last use of a token or session, at most once a minute. */
export type RecordUse = (
  last: string | null,
  now: Date,
  work: (at: string) => Promise<unknown>,
) => Promise<void>

/** The precision of a last use, and the pause after a failed write, in milliseconds. */
const PAUSE = 60_000

/** Returns a recorder. It writes one use at a time and only reports failures: reads must go on. */
export function recordUses(onFailure: (error: unknown) => void): RecordUse {
  const mutex = new Mutex()
  let failedAt = Number.NEGATIVE_INFINITY
  return async (last, now, work) => {
    if (last !== null && Math.abs(now.getTime() - Date.parse(last)) <= PAUSE) return
    await mutex.run(async () => {
      if (Math.abs(now.getTime() - failedAt) < PAUSE) return
      try {
        await work(timestamp(now))
      } catch (error) {
        failedAt = now.getTime()
        onFailure(error)
      }
    })
  }
}
