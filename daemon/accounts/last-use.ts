import pLimit from 'p-limit'
import type { Logger } from 'pino'
import { timestamp } from '../../generator/index.ts'

/** Has `work` record `now` as the last use of a token or a session, where that is worthwhile. */
export type RecordUse = (
  last: string | null,
  now: Date,
  work: (at: string) => Promise<unknown>,
) => Promise<void>

/** How exact a last use is, and how long nothing is recorded after a failure, in milliseconds. */
const PAUSE = 60_000

/** One by one; a failure (a full disk) pauses it for a minute: reading must go on without it. */
export function recordUses(log: Pick<Logger, 'warn'>): RecordUse {
  const inTurn = pLimit(1)
  let failedAt = Number.NEGATIVE_INFINITY
  return async (last, now, work) => {
    if (last !== null && now.getTime() - Date.parse(last) <= PAUSE) return
    await inTurn(async () => {
      if (Math.abs(now.getTime() - failedAt) < PAUSE) return
      try {
        await work(timestamp(now))
      } catch (error) {
        failedAt = now.getTime()
        log.warn({ err: error }, 'cannot record when a token or a login was last used; skipped')
      }
    })
  }
}
