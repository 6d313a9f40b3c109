import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Acceptance,
  build,
  buildCrate,
  type Change,
  listMarks,
  PublishQueue,
  type Registry,
  refuseErrors,
  type Submission,
} from '../../generator/index.ts'
import { PageWorker } from './page-worker.ts'

/** Told of a build that failed; its marks stay, so it is tried again. */
export type BuildFailure = (error: unknown) => void

/** How patient the queue is, in milliseconds. */
export interface Patience {
  /** Of the caller of one build; Cargo gives up after 30 s of silence. */
  readonly build: number
  /** Before the first retry; each one that fails doubles it, up to a minute. */
  readonly retry: number
}

const LONGEST_PAUSE = 60_000

/** How long a page gives way to publishes, in milliseconds. */
const CALM_MS = 100

/** How long the marks of what was rendered wait for a common sync, in milliseconds. */
const SETTLE_MS = 500

/**
 * The queue over `build`: one build of a crate at a time, shared by callers that come while it
 * waits. A failed build never fails its cause: the marks stay and the queue tries again.
 */
export class IndexWorker {
  readonly #context: Registry
  readonly #onFailure: BuildFailure
  readonly #patience: Patience
  /** What is rendered behind the publishes. */
  readonly pages: PageWorker
  /** Builds that have not begun, by crate. */
  readonly #waiting = new Map<number, Promise<boolean>>()
  readonly #running = new Set<Promise<unknown>>()
  readonly #publishes: PublishQueue
  #settling: NodeJS.Timeout | null = null
  #retry: NodeJS.Timeout | null = null
  #pause: number

  constructor(
    context: Registry,
    onFailure: BuildFailure,
    patience: Patience = { build: 15_000, retry: 1000 },
  ) {
    this.#context = context
    this.#publishes = new PublishQueue(context)
    this.#onFailure = onFailure
    this.#patience = patience
    this.#pause = patience.retry
    this.pages = new PageWorker({
      context: context,
      onFailure,
      calm: () => this.#calm(),
    })
  }

  /**
   * Renders a crate; false when that takes too long for its public files to show every change now.
   */
  crate(crateId: number): Promise<boolean> {
    return this.#inTime(this.#turn(crateId))
  }

  /** Adds a release and renders its crate; `isShown` as the answer of `crate`. */
  async publish(
    submission: Submission,
    change: Change,
  ): Promise<Acceptance & { readonly isShown: boolean }> {
    const { rendered, ...accepted } = await this.#publishes.publish(submission, change)
    const isShown = await this.#inTime(this.#track(this.#outcome(rendered)))
    this.#settling ??= setTimeout(() => void this.#track(this.settle()), SETTLE_MS)
    return { ...accepted, isShown }
  }

  async #inTime(build: Promise<boolean>): Promise<boolean> {
    let timeout: NodeJS.Timeout | undefined
    const late = new Promise<false>(resolve => {
      timeout = setTimeout(resolve, this.#patience.build, false)
    })
    try {
      return await Promise.race([build, late])
    } finally {
      clearTimeout(timeout)
    }
  }

  /** Does what an earlier process has left pending; what fails is tried again later. */
  async catchUp(): Promise<void> {
    await this.#track(this.#everything())
  }

  /**
   * Finishes running builds, tries failed ones once more and renders pages for `seconds` at most.
   */
  async close(seconds = 30): Promise<void> {
    await this.#idle()
    if (this.#settling) await this.settle()
    if (this.#retry) {
      clearTimeout(this.#retry)
      try {
        await this.#whole()
      } catch (error) {
        this.#onFailure(error)
      }
    }
    await this.pages.close(seconds)
  }

  /** Waits until nobody waits for an index file, or for `CALM_MS`. */
  async #calm(): Promise<void> {
    if (this.#running.size === 0) return
    const patience = new AbortController()
    const end = sleep(CALM_MS, undefined, { signal: patience.signal }).catch(() => undefined)
    await Promise.race([end, this.#idle()])
    patience.abort()
  }

  async #idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  /**
   * Puts on disk what publishes have rendered, and clears its marks. A failure leaves them, and the
   * retry builds again.
   */
  async settle(): Promise<void> {
    if (this.#settling) clearTimeout(this.#settling)
    this.#settling = null
    try {
      await this.#publishes.settle()
    } catch (error) {
      this.#failed(error)
    }
  }

  #turn(crateId: number): Promise<boolean> {
    const waiting = this.#waiting.get(crateId)
    if (waiting) return waiting
    const turn = this.#track(this.#build(crateId))
    this.#waiting.set(crateId, turn)
    return turn
  }

  async #build(crateId: number): Promise<boolean> {
    const began = () => this.#waiting.delete(crateId)
    const isShown = await this.#outcome(buildCrate(this.#context, crateId, began))
    if (!isShown) began()
    return isShown
  }

  /** Whether a build ended well; otherwise it is tried again. */
  async #outcome(build: Promise<void>): Promise<boolean> {
    try {
      await build
      this.pages.wake()
      return true
    } catch (error) {
      this.#failed(error)
      return false
    }
  }

  /** Builds everything; if that fails, crate by crate, so that one crate never stops the others. */
  async #everything(): Promise<void> {
    try {
      await this.#whole()
      this.pages.wake()
      this.#pause = this.#patience.retry
    } catch (error) {
      if (await this.#everyMarked()) this.#failed(error)
    }
  }

  /** Renders all that is marked; throws if something could not be rendered. */
  async #whole(): Promise<void> {
    const { issues } = await build(this.#context)
    refuseErrors(issues)
  }

  /** Whether all marked crates could be rendered; the others have reported their failures. */
  async #everyMarked(): Promise<boolean> {
    try {
      const marks = await listMarks(this.#context.database, 'index')
      const turns = await Promise.all(marks.map(mark => this.#turn(mark.subject)))
      return turns.every(isShown => isShown)
    } catch (error) {
      this.#failed(error)
      return false
    }
  }

  #failed(error: unknown): void {
    this.#onFailure(error)
    if (this.#retry) return
    this.#retry = setTimeout(() => {
      this.#retry = null
      this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE)
      void this.#track(this.#everything())
    }, this.#pause)
    this.#retry.unref()
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work)
    void work.finally(() => this.#running.delete(work))
    return work
  }
}
