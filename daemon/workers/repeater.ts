/** Repeats work in the background, never twice at once. */
export class Repeater {
  readonly #work: () => Promise<number | null>
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | null = null
  /** What was scheduled during a run. */
  #next: number | null = null
  #isClosed = false

  /**
   * `work` says in how many milliseconds it is to be repeated; null when that is for others to say.
   * It never throws.
   */
  constructor(work: () => Promise<number | null>) {
    this.#work = work
  }

  /** Does the work in so many milliseconds, instead of when it was due. */
  schedule(ms: number): void {
    if (this.#isClosed) return
    if (this.#running) {
      this.#next = ms
      return
    }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.run(), ms).unref()
  }

  /** Does the work now, or after the run that has begun. */
  async run(): Promise<void> {
    while (this.#running) await this.#running
    clearTimeout(this.#timer)
    this.#running = this.#turn()
    await this.#running
  }

  /** Waits for the run that has begun; no other begins by itself. */
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
