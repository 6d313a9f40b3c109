import {
  buildMarks,
  markOutdatedPages,
  nextRetry,
  type PageContext,
  pageMarks,
} from '../../generator/index.ts'
import { ImageWorker } from './image-worker.ts'
import { Repeater } from './repeater.ts'

/** How long pages wait for more changes, so that a burst of publishes renders each page once. */
const GATHER_MS = 200

/** The longest that pages wait when changes keep coming. */
const MAX_GATHER_MS = 2000

/** The shortest and longest pause after a failed turn; each pause is twice the one before. */
const MIN_PAUSE_MS = 1000
const MAX_PAUSE_MS = 60_000

/** The longest time between two checks for failed pages to retry. */
const MAX_RETRY_MS = 3_600_000

/** What the page worker depends on. */
export interface PageWorkerDeps {
  readonly context: PageContext
  /** Receives the error of a failed page; its mark stays, so it is tried again. */
  readonly onFailure: (error: unknown) => void
  /** Resolves when index builds leave time for pages: pages give way to publishes. */
  readonly waitForIdle: () => Promise<unknown>
}

/**
 * Renders pages one at a time, after the index files of publishes. Retries failed pages; the marks
 * of pages left when it closes stay in the catalog for the next start.
 */
export class PageWorker {
  readonly #deps: PageWorkerDeps
  readonly #repeater = new Repeater(() => this.#turn())
  readonly #images: ImageWorker
  #deadline = Number.POSITIVE_INFINITY
  #pause = MIN_PAUSE_MS
  /** When the first change of the current burst arrived. */
  #since: number | null = null

  constructor(deps: PageWorkerDeps) {
    this.#deps = deps
    const { context, onFailure } = deps
    this.#images = new ImageWorker({ context, onFailure, onFetched: () => this.wake() })
  }

  /** Marks outdated pages (an upgrade, another base URL) and renders what is pending. */
  async start(): Promise<void> {
    await markOutdatedPages(this.#deps.context)
    this.wake()
  }

  /** Schedules a turn for new changes, after a short wait for more of them. */
  wake(): void {
    const now = performance.now()
    this.#since ??= now
    this.#repeater.schedule(Math.max(0, Math.min(GATHER_MS, this.#since + MAX_GATHER_MS - now)))
  }

  /** Renders what is pending for at most `seconds`, then stops. */
  async close(seconds: number): Promise<void> {
    this.#deadline = Date.now() + seconds * 1000
    await this.#images.close()
    await this.#repeater.close()
    await this.#turn()
  }

  /** Renders what is pending without waiting for more. */
  flush(): Promise<void> {
    return this.#repeater.run()
  }

  /**
   * Renders every page that is due; puts off a failed page. Returns the time until the next turn:
   * when failed pages are due (at most an hour), or a growing pause if the turn did not finish.
   */
  async #turn(): Promise<number | null> {
    this.#since = null
    const { context, onFailure, waitForIdle } = this.#deps
    const { database, clock } = context
    const pause = this.#pause
    this.#pause = Math.min(pause * 2, MAX_PAUSE_MS)
    try {
      const due = () => pageMarks(database, clock())
      for (let marks = await due(); marks.length > 0; marks = await due()) {
        if (Date.now() >= this.#deadline) return pause
        await buildMarks(context, marks, { waitForIdle, onFailure })
      }
      this.#pause = MIN_PAUSE_MS
      this.#images.wake()
      const next = await nextRetry(database)
      if (next === null) return null
      const wait = next.getTime() - clock().getTime()
      return Math.min(Math.max(wait, MIN_PAUSE_MS), MAX_RETRY_MS)
    } catch (error) {
      onFailure(error)
      return pause
    }
  }
}
