import {
  buildMarks,
  markOutdatedPages,
  nextRetry,
  type PageContext,
  pageMarks,
} from '../../generator/index.ts'

/** How long pages wait for more changes, so that a burst of publishes renders each page once. */
const GATHER_MS = 200

/** How long they wait when changes keep coming. */
const MAX_GATHER_MS = 2000

/** The shortest pause before failed pages are looked at again. */
const MIN_RETRY_MS = 1000

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
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> | null = null
  #wanted = false
  #deadline = Number.POSITIVE_INFINITY
  #pause = 1000
  /** Whether the timer is for failed pages only. */
  #isRetry = false
  /** When the first of the changes came that are being gathered. */
  #since = 0

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
    if (this.#running) this.#wanted = true
    else this.#gather()
  }

  /** Renders what is pending, for `seconds` at most, and stops. */
  async close(seconds: number): Promise<void> {
    this.#deadline = Date.now() + seconds * 1000
    await this.flush()
  }

  /** Renders what is pending without waiting for more. */
  async flush(): Promise<void> {
    this.#unschedule()
    await this.#running
    this.#unschedule()
    if (await this.#pass()) await this.#scheduleRetry()
    else this.#schedule(this.#pause)
  }

  /** Failed pages may be put off for an hour; others do not wait for them. */
  #gather(): void {
    const now = performance.now()
    if (!this.#timer || this.#isRetry) this.#since = now
    const wait = Math.min(GATHER_MS, this.#since + MAX_GATHER_MS - now)
    this.#unschedule()
    this.#schedule(Math.max(wait, 0))
  }

  #unschedule(): void {
    this.#isRetry = false
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }

  #schedule(ms: number): void {
    if (this.#timer || this.#deadline !== Number.POSITIVE_INFINITY) return
    this.#timer = setTimeout(() => {
      this.#unschedule()
      this.#running = this.#turn()
    }, ms)
    this.#timer.unref()
  }

  async #turn(): Promise<void> {
    this.#wanted = false
    const isDone = await this.#pass()
    this.#running = null
    this.#pause = isDone ? 1000 : Math.min(this.#pause * 2, 60_000)
    if (!isDone) this.#schedule(this.#pause)
    else if (this.#wanted) this.#gather()
    else await this.#scheduleRetry()
  }

  /** Comes back when failed pages are due, at least once an hour. */
  async #scheduleRetry(): Promise<void> {
    const { database, clock } = this.#deps.context
    const next = await nextRetry(database)
    if (next === null) return
    const wait = next.getTime() - clock().getTime()
    if (this.#timer || this.#running) return
    this.#schedule(Math.min(Math.max(wait, MIN_RETRY_MS), 3_600_000))
    this.#isRetry = true
  }

  /** Renders every page that is due; false when that came to no end. A failed page is put off. */
  async #pass(): Promise<boolean> {
    const { context, onFailure, calm } = this.#deps
    try {
      const due = () => pageMarks(context.database, context.clock())
      let marks = await due()
      while (marks.length > 0) {
        if (Date.now() >= this.#deadline) return false
        await buildMarks(context, marks, { calm, onFailure })
        marks = await due()
      }
      return true
    } catch (error) {
      onFailure(error)
      return false
    }
  }
}
