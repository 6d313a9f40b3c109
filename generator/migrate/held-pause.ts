import { refuse } from '../../core/error/error.ts'
import type { Database } from '../database/connection.ts'
import type { Queries } from '../database/statement.ts'
import { beginPause, endPause, renewPause } from '../records/pause.ts'

/** Changes go on this long after a mover has died; it renews its pause this often. */
const SECONDS = 60
const RENEW_MS = 10_000

/** Pauses a registry while its records are copied to `place`, as long as the process lives. */
export async function holdPause(database: Database, place: string) {
  let value = await database.transaction(tx => beginPause(tx, SECONDS, place))
  let renewing = Promise.resolve()
  const renew = async () => {
    // A server that is away for a moment is asked again; the pause goes on meanwhile.
    const next = await renewPause(database, value, SECONDS).catch(() => value)
    // Otherwise it has ended, and cannot be ended any more.
    if (next !== null) value = next
  }
  const timer = setInterval(() => {
    renewing = renewing.then(renew)
  }, RENEW_MS)
  const stop = async () => {
    clearInterval(timer)
    await renewing
  }
  return {
    began: performance.now(),
    /** Ends the pause, in a transaction that refuses when it has ended before. */
    async end(tx: Queries): Promise<void> {
      await stop()
      if (!(await endPause(tx, value))) refuse('pause_lost')
    },
    async release(): Promise<void> {
      await stop()
      // It ends by itself soon; what there is to say has been said.
      await endPause(database, value).catch(() => undefined)
    },
  }
}
