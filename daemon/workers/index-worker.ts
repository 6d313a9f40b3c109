import { setTimeout as sleep } from 'node:timers/promises'
import { Backoff } from '../../core/async/backoff.ts'
import type { OnFailure } from '../../core/async/on-failure.ts'
import { Repeater, within } from '../../core/async/repeater.ts'
import { refuseErrors } from '../../core/error/error.ts'
import { type Built, build } from '../../generator/pages/build.ts'
import type { Change } from '../../generator/records/change.ts'
import type { Submission } from '../../generator/registry/changes/check.ts'
import { type Publication, PublishQueue } from '../../generator/registry/changes/publish.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { PageWorker } from './page-worker.ts'
import type { Worker } from './worker.ts'

export interface Timing {
  /** How long a caller waits for one build; Cargo gives up after 30 s of silence. */
  readonly build: number
  /** The pause before the first retry; each failed retry doubles it, up to a minute. */
  readonly retry: number
}

const LONGEST_PAUSE = 60_000

/** Milliseconds between two successes that have failed builds tried at once. */
const HURRY_EVERY = 4000

const IDLE_WAIT_MS = 100

/** Milliseconds after an answer in which the client will probably publish again. */
const NEXT_PUBLISH_MS = 30

/** How long rendered files and their marks wait for a shared sync, in milliseconds. */
const SETTLE_MS = 500

/**
 * Publishes, and shows crates that have changed, in turns that callers share. A failed build never
 * fails the change that caused it: its marks stay, and it is tried again.
 */
export class IndexWorker implements Worker {
  readonly #context: Registry
  readonly #onFailure: OnFailure
  readonly #timing: Timing
  readonly pages: PageWorker
  readonly #running = new Set<Promise<unknown>>()
  readonly #queue: PublishQueue
  /** Publishes that are not answered yet, and when the last one was. */
  #inFlight = 0
  #answeredAt = Number.NEGATIVE_INFINITY
  readonly #settling = new Repeater(async () => {
    await this.#track(this.settle())
    return null
  })
  readonly #retry = new Repeater(async () => {
    await this.catchUp()
    return null
  })
  readonly #backoff: Backoff
  /** When the retry is due, and when it was or will be hurried. */
  #retryAt = 0
  #hurriedAt = Number.NEGATIVE_INFINITY

  constructor(
    context: Registry,
    onFailure: OnFailure,
    timing: Timing = { build: 15_000, retry: 1000 },
  ) {
    this.#context = context
    this.#queue = new PublishQueue(context)
    this.#onFailure = onFailure
    this.#timing = timing
    this.#backoff = new Backoff(timing.retry, LONGEST_PAUSE)
    const ofPages: OnFailure = error => onFailure(error)
    // Pages are rendered after the index: with them, all is well again.
    ofPages.done = () => this.#retry.isScheduled || onFailure.done?.()
    const waitForIdle = () => this.#waitForIdle()
    this.pages = new PageWorker({ context, onFailure: ofPages, waitForIdle })
  }

  /** Renders a crate; false if that fails or takes too long: public files may be outdated. */
  crate(crateId: number): Promise<boolean> {
    return this.#isShown(this.#queue.show(crateId))
  }

  /** Adds a release and renders its crate; `isShown` is what `crate` would return. */
  async publish(
    submission: Submission,
    change: Change,
  ): Promise<Publication & { readonly isShown: boolean }> {
    this.#inFlight++
    try {
      const publication = await this.#queue.publish(submission, change)
      return { ...publication, isShown: await this.#isShown(publication.shown) }
    } finally {
      this.#inFlight--
      this.#answeredAt = performance.now()
    }
  }

  async start(): Promise<void> {
    await this.catchUp()
    await this.pages.start()
  }

  /** Renders everything that is marked, or was left by others; retries failures later. */
  async catchUp(render: (context: Registry) => Promise<Built> = build): Promise<void> {
    await this.#track(this.#everything(render))
  }

  /** Finishes builds, retries failed ones once, and renders pages for at most `seconds`. */
  async close(seconds = 30): Promise<void> {
    const end = performance.now() + 1000 * seconds
    // What is given up is still marked.
    await within(this.#idle(), 1000 * seconds, undefined)
    const isLeft = () => performance.now() < end
    if ((await this.#settling.close()) && isLeft()) await this.settle()
    if ((await this.#retry.close()) && isLeft()) {
      try {
        refuseErrors((await build(this.#context)).issues)
      } catch (error) {
        this.#onFailure(error)
      }
    }
    await this.pages.close(seconds)
  }

  /** Shows all that is marked, at once, but not more often than every four seconds. */
  hurry(): void {
    const now = performance.now()
    const at = Math.max(now, this.#hurriedAt + HURRY_EVERY)
    if (this.#retry.isScheduled && this.#retryAt <= at) return
    this.#hurriedAt = at
    this.#tryIn(at - now)
  }

  /** Waits until there are no publishes and no index builds, but at most `IDLE_WAIT_MS`. */
  async #waitForIdle(): Promise<void> {
    const deadline = performance.now() + IDLE_WAIT_MS
    while (performance.now() < deadline) {
      const rest = this.#answeredAt + NEXT_PUBLISH_MS - performance.now()
      if (this.#running.size > 0) await within(this.#idle(), IDLE_WAIT_MS, undefined)
      else if (this.#inFlight > 0 || rest > 0) await sleep(Math.max(rest, NEXT_PUBLISH_MS / 3))
      else return
    }
  }

  async #idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  /** Syncs index files of publishes to disk, then clears their marks; a failure keeps them. */
  async settle(): Promise<void> {
    try {
      await this.#queue.settle()
      if (this.#context.followers.some(({ after }) => after === 'index')) this.pages.wake()
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Returns whether a build succeeds in time; has it synced behind the answer, or tried again. */
  #isShown(shown: Promise<void>): Promise<boolean> {
    const outcome = async () => {
      try {
        await shown
        this.pages.wake()
        if (this.#retry.isScheduled) this.hurry()
        return true
      } catch (error) {
        this.#failed(error)
        return false
      } finally {
        if (!this.#settling.isScheduled) this.#settling.schedule(SETTLE_MS)
      }
    }
    return within(this.#track(outcome()), this.#timing.build, false)
  }

  async #everything(render: (context: Registry) => Promise<Built>): Promise<void> {
    try {
      refuseErrors((await render(this.#context)).issues)
      this.pages.wake()
      this.#backoff.reset()
    } catch (error) {
      this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    this.#onFailure(error)
    if (!this.#retry.isScheduled) this.#tryIn(this.#backoff.next())
  }

  #tryIn(ms: number): void {
    this.#retryAt = performance.now() + ms
    this.#retry.schedule(ms)
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work)
    void work.finally(() => this.#running.delete(work))
    return work
  }
}
