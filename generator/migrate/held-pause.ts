import { refuse } from '../../core/error/error.ts'
import type { Database } from '../database/connection.ts'
import type { Queries } from '../database/statement.ts'
import { beginPause, endPause, renewPause } from '../records/pause.ts'

/** Changes go on this long after a mover has died; it renews its pause this often. */
const SECONDS = 60
const RENEW_MS = 10_000

/** The pause of a registry whose records are copied, as long as the process lives. */
export class HeldPause {
  readonly began = performance.now()
  readonly #database: Database
  #value: string
  #renewing = Promise.resolve()
  readonly #timer = setInterval(() => {
    this.#renewing = this.#renewing.then(() => this.#renew())
  }, RENEW_MS)

  private constructor(database: Database, value: string) {
    this.#database = database
    this.#value = value
  }

  /** Pauses the registry while its records are copied to `place`. */
  static async begin(database: Database, place: string): Promise<HeldPause> {
    const begin = (tx: Queries) => beginPause(tx, SECONDS, place)
    return new HeldPause(database, await database.transaction(begin))
  }

  /** Ends the pause, in a transaction that refuses when it has ended before. */
  async end(tx: Queries): Promise<void> {
    clearInterval(this.#timer)
    await this.#renewing
    if (!(await endPause(tx, this.#value))) refuse('pause_lost')
  }

  /** Ends the pause if it has not ended. */
  async release(): Promise<void> {
    clearInterval(this.#timer)
    await this.#renewing
    // It ends by itself soon; what there is to say has been said.
    await endPause(this.#database, this.#value).catch(() => undefined)
  }

  async #renew(): Promise<void> {
    // A server that is away for a moment is asked again; the pause goes on meanwhile.
    const value = await renewPause(this.#database, this.#value, SECONDS).catch(() => this.#value)
    // Otherwise it has ended, and cannot be ended any more.
    if (value !== null) this.#value = value
  }
}
