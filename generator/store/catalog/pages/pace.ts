import { setImmediate } from 'node:timers/promises'

/** How long work may go on before others get a turn of the event loop, in milliseconds. */
const LONGEST_MS = 10

/** Divides long work into pieces, so that it does not keep the event loop from others. */
export class Pace {
  #since = performance.now()

  /** Ends a piece: once the work has gone on for 10 ms, others get a turn. */
  async step(): Promise<void> {
    if (performance.now() - this.#since < LONGEST_MS) return
    await setImmediate()
    this.#since = performance.now()
  }
}
