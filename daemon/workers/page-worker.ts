import {
  buildMarks,
  markOutdatedPages,
  nextRetry,
  type PageContext,
  pageMarks,
} from '../../generator/index.ts'
import { Repeater } from './repeater.ts'

/** How long pages wait for more changes, so that a burst of publishes renders each page once. */
const GATHER_MS = 200

/** How long they wait when changes keep coming. */
const MAX_GATHER_MS = 2000

/** Pauses after a turn that failed, each twice the one before. */
const MIN_PAUSE_MS = 1000
const MAX_PAUSE_MS = 60_000

/** Failed pages are looked at again at least as often. */
const MAX_RETRY_MS = 3_600_000

/** What the worker works with. */
export interface PageWorkerDeps {
  readonly context: PageContext
  /** Told of a page that failed; its mark stays, so it is tried again. */
  readonly onFailure: (error: unknown) => void
  /** Resolves when nobody waits for an index file: pages give way to publishes. */
  readonly calm: () => Promise<unknown>
}

/**
 * Renders pages after publishes, one at a time, index files first. What fails is tried again; what
 * is left at the end waits in the catalog for the next start.
 */
export class PageWorker {
  readonly #deps: PageWorkerDeps
  readonly #repeater = new Repeater(() => this.#turn())
  #deadline = Number.POSITIVE_INFINITY
  #pause = MIN_PAUSE_MS
  /** When the first of the changes came that are being gathered. */
  #since: number | null = null

  constructor(deps: PageWorkerDeps) {
    this.#deps = deps
  }

  /** Marks outdated pages (an upgrade, another base URL) and renders what is pending. */
  async start(): Promise<void> {
    await markOutdatedPages(this.#deps.context)
    this.wake()
  }

  /** There is something to render: soon, not now. */
  wake(): void {
    const now = performance.now()
    this.#since ??= now
    this.#repeater.schedule(Math.max(0, Math.min(GATHER_MS, this.#since + MAX_GATHER_MS - now)))
  }

  /** Renders what is pending, for `seconds` at most, and stops. */
  async close(seconds: number): Promise<void> {
    this.#deadline = Date.now() + seconds * 1000
    await this.#repeater.close()
    await this.#turn()
  }

  /** Renders what is pending without waiting for more. */
  flush(): Promise<void> {
    return this.#repeater.run()
  }

  /**
   * Renders every page that is due; a failed page is put off. Comes back when failed pages are due,
   * at least once an hour, and after a growing pause when it came to no end.
   */
  async #turn(): Promise<number | null> {
    this.#since = null
    const { context, onFailure, calm } = this.#deps
    const { database, clock } = context
    const pause = this.#pause
    this.#pause = Math.min(pause * 2, MAX_PAUSE_MS)
    try {
      const due = () => pageMarks(database, clock())
      for (let marks = await due(); marks.length > 0; marks = await due()) {
        if (Date.now() >= this.#deadline) return pause
        await buildMarks(context, marks, { calm, onFailure })
      }
      this.#pause = MIN_PAUSE_MS
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
