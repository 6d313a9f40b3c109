import type { GitIndex } from '../../generator/index.ts'
import { Repeater } from './repeater.ts'

/** How often the worker looks for changes made by other processes, in milliseconds. */
const LOOK_EVERY = 2000
const LONGEST_PAUSE = 60_000
/** Minimum milliseconds between two commits: each starts processes, and a burst needs only one. */
const APART = 1000

/**
 * Commits all pending changes to the git index after publishes, in one commit. Reports a failed
 * commit and retries it after growing pauses.
 */
export class GitWorker {
  readonly #index: GitIndex
  readonly #onFailure: (error: unknown) => void
  readonly #repeater = new Repeater(() => this.#commit())
  #failures = 0
  #last = Number.NEGATIVE_INFINITY

  constructor(index: GitIndex, onFailure: (error: unknown) => void) {
    this.#index = index
    this.#onFailure = onFailure
    this.#repeater.schedule(0)
  }

  /**
   * Commits `config.json` before the daemon announces its address. Reports a failure, never throws.
   */
  async beginWithConfig(): Promise<void> {
    try {
      await this.#index.commitConfig()
    } catch (error) {
      this.#onFailure(error)
    }
  }

  /** Schedules a commit of new changes and returns at once. */
  wake(): void {
    if (this.#failures > 0) return
    this.#repeater.schedule(Math.max(0, this.#last + APART - performance.now()))
  }

  /** Commits pending changes, then releases the repository. */
  async close(): Promise<void> {
    await this.#repeater.close()
    await this.#commit()
    await this.#index.close()
  }

  async #commit(): Promise<number> {
    this.#last = performance.now()
    try {
      await this.#index.commit()
      this.#failures = 0
    } catch (error) {
      this.#failures++
      this.#onFailure(error)
    }
    return Math.min(LOOK_EVERY * 2 ** this.#failures, LONGEST_PAUSE)
  }
}
