import { setImmediate } from 'node:timers/promises'

/** The time for which work blocks the event loop at once, in ms of processor time. */
export class LoopDelay {
  readonly #times: number[] = []
  #isOver = false

  /** Looks at each turn of the event loop until the end. */
  async watch(): Promise<void> {
    while (!this.#isOver) {
      const used = process.cpuUsage()
      await setImmediate()
      const { user, system } = process.cpuUsage(used)
      this.#times.push((user + system) / 1000)
    }
  }

  /** Returns the longest time. */
  end(): number {
    this.#isOver = true
    return Math.max(...this.#times)
  }
}
