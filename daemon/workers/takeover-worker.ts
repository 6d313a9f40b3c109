import type { OnFailure } from '../../core/async/on-failure.ts'
import { Repeater } from '../../core/async/repeater.ts'
import { Refusal } from '../../core/error/error.ts'
import { timestamp } from '../../core/timestamp.ts'
import { deleteOldBuckets } from '../../generator/accounts/rate-limits.ts'
import { drain } from '../../generator/pages/build.ts'
import { PAGE_KINDS } from '../../generator/projections/projections.ts'
import { hasMarksUpTo, lastChange } from '../../generator/records/marks.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import type { Serving } from '../../generator/serving.ts'
import type { IndexWorker } from './index-worker.ts'
import type { Worker } from './worker.ts'

/** How often the worker looks, in milliseconds, and at how many looks it says that it serves. */
const LOOK_EVERY = 2000
const RECORD_AT = 3

const OUTDATED = ['registry_newer', 'listings_changed'] as const

/** Work that a publish waits for: who has recorded it renders it within a second. */
const URGENT = ['index', 'whole']

/**
 * Takes over what other daemons have left: index files that are not rendered after two looks, and
 * pages at once, which daemons render in turns. Also tells the others that this daemon serves, and
 * removes rate limits that nobody is near.
 */
export class TakeoverWorker implements Worker {
  readonly #registry: Registry
  readonly #serving: Serving
  readonly #indexWorker: IndexWorker
  readonly #onFailure: OnFailure
  readonly #repeater = new Repeater(() => this.#look())
  /** The last changes at the two looks before. */
  #before: readonly [number, number] = [0, 0]
  #looks = 0
  #taking: Promise<void> | null = null
  #hasFailed = false
  #end: (refusal: Refusal) => void = () => undefined
  readonly outdated = new Promise<never>((_, reject) => {
    this.#end = reject
  })

  constructor(
    registry: Registry,
    serving: Serving,
    indexWorker: IndexWorker,
    onFailure: OnFailure,
  ) {
    this.#registry = registry
    this.#serving = serving
    this.#indexWorker = indexWorker
    this.#onFailure = onFailure
    this.outdated.catch(() => undefined)
  }

  async start(): Promise<void> {
    this.#repeater.schedule(LOOK_EVERY)
  }

  async close(): Promise<void> {
    await this.#repeater.close()
    await this.#taking
  }

  async #look(): Promise<number> {
    const { database, clock } = this.#registry
    try {
      if (this.#looks++ % RECORD_AT === 0) {
        await this.#serving.record()
        await deleteOldBuckets(database, clock())
      }
      const at = timestamp(clock())
      const [old, last] = this.#before
      // Much work takes longer than the next look.
      if (!this.#taking && (await hasMarksUpTo(database, URGENT, old, at)))
        this.#taking = this.#indexWorker.catchUp(drain).finally(() => {
          this.#taking = null
        })
      this.#before = [last, await lastChange(database)]
      if (await hasMarksUpTo(database, PAGE_KINDS, last, at)) this.#indexWorker.pages.wake()
      this.#hasFailed = false
      this.#onFailure.done?.()
    } catch (error) {
      if (error instanceof Refusal && OUTDATED.some(code => error.has(code))) this.#end(error)
      // Once: a database that is away is said often enough.
      if (!this.#hasFailed) this.#onFailure(error)
      this.#hasFailed = true
    }
    return LOOK_EVERY
  }
}
