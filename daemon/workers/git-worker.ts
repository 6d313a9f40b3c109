import type { GitIndex } from '../../generator/index.ts'

/** How often the worker looks for changes made by other processes, in milliseconds. */
const LOOK_EVERY = 2000
const LONGEST_PAUSE = 60_000
/** Least time between two commits: each starts programs, and a burst needs only one. */
const APART = 1000

/**
 * Commits to the git index after publishes, all pending changes at once. A failure is reported and
 * tried again with growing pauses.
 */
export class GitWorker {
  readonly #index: GitIndex
  readonly #onFailure: (error: unknown) => void
  #running: Promise<void> | null = null
  #wanted = false
  #failures = 0
  #timer: NodeJS.Timeout
  #closed = false
  #last = Number.NEGATIVE_INFINITY

  constructor(index: GitIndex, onFailure: (error: unknown) => void) {
    this.#index = index
    this.#onFailure = onFailure
    this.#timer = this.#later(0)
  }

  /**
   * Commits `config.json` before the address is announced. A failure is reported like any other.
   */
  async beginWithConfig(): Promise<void> {
    try {
      await this.#index.commitConfig()
    } catch (error) {
      this.#onFailure(error)
    }
  }

  /** Says that something has changed; returns at once. */
  wake(): void {
    if (this.#running) this.#wanted = true
    else if (this.#failures === 0) this.#soon()
  }

  /** Commits what waits, then lets go of the repository. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#running
    await this.#commit()
    await this.#index.close()
  }

  /** Commits at once, or when the last commit is long enough ago. */
  #soon(): void {
    clearTimeout(this.#timer)
    this.#timer = this.#later(Math.max(0, this.#last + APART - performance.now()))
  }

  #start(): void {
    clearTimeout(this.#timer)
    this.#running = this.#commit().finally(() => {
      this.#running = null
      if (this.#closed) return
      if (this.#wanted) this.#soon()
      else this.#timer = this.#later(Math.min(LOOK_EVERY * 2 ** this.#failures, LONGEST_PAUSE))
    })
  }

  async #commit(): Promise<void> {
    this.#wanted = false
    this.#last = performance.now()
    try {
      await this.#index.commit()
      this.#failures = 0
    } catch (error) {
      this.#failures++
      this.#onFailure(error)
    }
  }

  #later(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => this.#start(), milliseconds).unref()
  }
}
