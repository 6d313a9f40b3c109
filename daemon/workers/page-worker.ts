import { Backoff } from '../../core/async/backoff.ts'
import type { OnFailure } from '../../core/async/on-failure.ts'
import { Repeater } from '../../core/async/repeater.ts'
import { newerDaemons } from '../../generator/database/daemons.ts'
import { markOutdatedPages } from '../../generator/pages/claim.ts'
import { buildMarks, pageMarks } from '../../generator/pages/marked.ts'
import type { PageContext } from '../../generator/projections/context.ts'
import { IDLE_KINDS, PAGE_KINDS } from '../../generator/projections/projections.ts'
import { lastChange, nextRetry } from '../../generator/records/marks.ts'
import { isPaused } from '../../generator/records/pause.ts'
import type { Worker } from './worker.ts'

/** How long pages wait for more changes, so that a burst of publishes renders each page once. */
const GATHER_MS = 200

const MAX_GATHER_MS = 2000

/** The shortest and longest pause after a failed turn; each pause is twice the one before. */
const MIN_PAUSE_MS = 1000
const MAX_PAUSE_MS = 60_000

const MAX_RETRY_MS = 3_600_000

/** How often a daemon looks whether newer ones still render the pages, in milliseconds. */
const LEFT_MS = 5000

/** An older daemon renders pages once no newer one was seen for this many milliseconds. */
const ALONE_MS = 60_000

/**
 * How long pages that list many crates wait for more changes: most publishes change some. After
 * they were rendered, they wait at least this many times as long, at most a minute.
 */
const IDLE_WAIT_MS = 10_000
const IDLE_PAUSE = 50
const MAX_IDLE_PAUSE_MS = 60_000

export interface PageWorkerDeps {
  readonly context: PageContext
  readonly onFailure: OnFailure
  /** Resolves when index builds leave time for pages: pages give way to publishes. */
  readonly waitForIdle: () => Promise<unknown>
  /** Milliseconds of a clock that nobody sets; `performance.now` by default. */
  readonly now?: () => number
}

/**
 * Renders pages one at a time, after the index files of publishes. Retries failed pages; the marks
 * of pages left when it closes stay in the records for the next start.
 */
export class PageWorker implements Worker {
  readonly #deps: PageWorkerDeps
  readonly #repeater = new Repeater(() => this.#renderDue())
  #deadline = Number.POSITIVE_INFINITY
  readonly #backoff = new Backoff(MIN_PAUSE_MS, MAX_PAUSE_MS)
  /** When the first change of the current burst arrived. */
  #since: number | null = null
  #mayBeOutdated = false
  /** Since when no newer daemon has been there that renders the pages. */
  #alone: number | null = null
  /** When the pages that wait are rendered; null when none are known to. */
  #idleAt: number | null = null
  #idleFrom = 0

  constructor(deps: PageWorkerDeps) {
    this.#deps = deps
  }

  get #now(): number {
    return (this.#deps.now ?? performance.now.bind(performance))()
  }

  /** Marks outdated pages and renders what is pending; only begins to if a bucket may be away. */
  async start(): Promise<void> {
    const { tree } = this.#deps.context
    this.#mayBeOutdated = true
    try {
      if (!tree.mirror) await this.#markOutdated()
    } catch (error) {
      if (!isPaused(error)) throw error
    }
    this.#idleAt = 0
    this.wake()
  }

  async #markOutdated(): Promise<void> {
    if (!this.#mayBeOutdated) return
    await markOutdatedPages(this.#deps.context)
    this.#mayBeOutdated = false
  }

  wake(): void {
    const now = this.#now
    this.#since ??= now
    this.#idleAt ??= Math.max(now + IDLE_WAIT_MS, this.#idleFrom)
    this.#repeater.schedule(Math.max(0, Math.min(GATHER_MS, this.#since + MAX_GATHER_MS - now)))
  }

  /** Renders what is pending for at most `seconds`, and what others change meanwhile no more. */
  async close(seconds: number): Promise<void> {
    this.#deadline = Date.now() + seconds * 1000
    await this.#repeater.close()
    this.#idleAt = 0
    await this.#renderDue()
  }

  flush(): Promise<void> {
    this.#idleAt = 0
    return this.#repeater.run()
  }

  /**
   * Renders every page that is due; puts off a failed page. Returns the time until the next turn:
   * when pages that wait, or failed ones, are due (at most an hour), or a growing pause if the turn
   * did not finish.
   */
  async #renderDue(): Promise<number | null> {
    this.#since = null
    const { context, onFailure, waitForIdle } = this.#deps
    const { database, clock } = context
    const pause = this.#backoff.next()
    const isIdle = this.#idleAt !== null && this.#idleAt <= this.#now
    if (isIdle) this.#idleAt = null
    try {
      await this.#markOutdated()
      const kinds = PAGE_KINDS.filter(kind => isIdle || !IDLE_KINDS.includes(kind))
      const deadline = this.#deadline
      const isClosing = deadline !== Number.POSITIVE_INFINITY
      const last = isClosing ? await lastChange(database) : 0
      const due = async () => {
        // Marks of downloads have the time instead of a change, which is beyond all changes.
        const newest = isClosing ? await lastChange(database) : 0
        return pageMarks(context, clock(), undefined, kinds, [last, newest])
      }
      let spent = 0
      for (let marks = await due(); marks.length > 0; marks = await due()) {
        // Closing takes another turn, which has an end also while others go on.
        if (deadline !== this.#deadline || Date.now() >= deadline) return this.#later(isIdle, pause)
        const start = this.#now
        const tried = await buildMarks(context, marks, { waitForIdle, onFailure })
        if (tried === null) return await this.#left()
        if (tried.some(mark => IDLE_KINDS.includes(mark.kind))) spent += this.#now - start
      }
      this.#idleFrom = this.#now + Math.min(spent * IDLE_PAUSE, MAX_IDLE_PAUSE_MS)
      this.#backoff.reset()
      const wait = this.#idleAt === null ? null : Math.max(0, this.#idleAt - this.#now)
      const retry = await this.#untilRetry()
      if (retry === null) onFailure.done?.()
      return wait === null || retry === null ? (wait ?? retry) : Math.min(wait, retry)
    } catch (error) {
      onFailure(error)
      return this.#later(isIdle, pause)
    }
  }

  /** Returns the pause after a turn that did not finish; the next one does its work. */
  #later(isIdle: boolean, pause: number): number {
    if (isIdle) this.#idleAt = 0
    return pause
  }

  /** Leaves the pages to newer daemons; takes them back when none was seen for a minute. */
  async #left(): Promise<number> {
    const { database, program } = this.#deps.context
    this.#backoff.reset()
    if ((await newerDaemons(database, program.version)).length > 0) {
      this.#alone = null
      return LEFT_MS
    }
    this.#alone ??= this.#now
    if (this.#now - this.#alone < ALONE_MS) return LEFT_MS
    this.#alone = null
    return (await markOutdatedPages(this.#deps.context)) ? 0 : LEFT_MS
  }

  async #untilRetry(): Promise<number | null> {
    const { database, clock } = this.#deps.context
    const next = await nextRetry(database)
    if (next === null) return null
    const wait = next.getTime() - clock().getTime()
    return Math.min(Math.max(wait, MIN_PAUSE_MS), MAX_RETRY_MS)
  }
}
