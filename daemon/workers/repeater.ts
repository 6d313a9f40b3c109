/** Repeats work in the background, never two runs at once. */
export class Repeater {
  readonly #work: () => Promise<number | null>
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | null = null
  /** The delay scheduled during a run. */
  #next: number | null = null
  #isClosed = false

  /**
   * `work` returns the milliseconds until its next run, or null to wait for a call of `schedule`.
   * It must never throw.
   */
  constructor(work: () => Promise<number | null>) {
    this.#work = work
  }

  /** Runs the work in this many milliseconds, replacing the earlier schedule. */
  schedule(ms: number): void {
    if (this.#isClosed) return
    if (this.#running) {
      this.#next = ms
      return
    }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.run(), ms).unref()
  }

  /** Runs the work now, or right after the current run. */
  async run(): Promise<void> {
    while (this.#running) await this.#running
    clearTimeout(this.#timer)
    this.#running = this.#turn()
    await this.#running
  }

  /** Waits for the current run and schedules no more. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#running
  }

  async #turn(): Promise<void> {
    const again = await this.#work()
    const next = this.#next ?? again
    this.#running = null
    this.#next = null
    if (next !== null) this.schedule(next)
  }
}
