/** Repeats work in the background, never two runs at once. */
export class Repeater {
  readonly #work: () => Promise<number | null>
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | null = null
  #next: number | null = null
  #isClosed = false

  /** `work` never throws. It returns milliseconds until its next run; null waits for `schedule`. */
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

  get isScheduled(): boolean {
    return this.#timer !== undefined || this.#next !== null
  }

  get isIdle(): boolean {
    return this.#running === null && !this.isScheduled
  }

  /** Runs the work now, or right after the current run. */
  async run(): Promise<void> {
    while (this.#running) await this.#running
    this.#unschedule()
    this.#running = this.#runOnce()
    await this.#running
  }

  /** Waits for the current run and schedules no more; returns whether a run was to come. */
  async close(): Promise<boolean> {
    const isScheduled = this.isScheduled
    this.#isClosed = true
    this.#unschedule()
    await this.#running
    return isScheduled
  }

  #unschedule(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  async #runOnce(): Promise<void> {
    const again = await this.#work()
    const next = this.#next ?? again
    this.#running = null
    this.#next = null
    if (next !== null) this.schedule(next)
  }
}

/** Returns the result of some work, or `late` after `ms` milliseconds. */
export function within<T>(work: Promise<T>, ms: number, late: T): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, late)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
