const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

/** Statuses of requests that may succeed later, besides those that the SDK knows. */
const TRANSIENT_STATUS = new Set([408, 409, 425])

/** What the SDK tells of an attempt that failed. */
interface Failed {
  readonly error?: unknown
  readonly errorType: string
}

/**
 * Has the SDK try requests again for some milliseconds, as long as they may succeed then. Pauses
 * double, and are anything between nothing and their full length ("full jitter"), so that many
 * clients do not come back at once.
 */
export class RetryBudget {
  readonly #budget: number

  constructor(budget: number) {
    this.#budget = budget
  }

  async acquireInitialRetryToken(): Promise<Attempt> {
    return new Attempt(0, 0, performance.now() + this.#budget)
  }

  /** Returns what is done after an attempt failed; throws when that was the last one. */
  async refreshRetryTokenForRetry(token: object, { error, errorType }: Failed): Promise<Attempt> {
    const { $metadata } = error as { readonly $metadata?: { readonly httpStatusCode?: number } }
    const isTransient =
      errorType !== 'CLIENT_ERROR' || TRANSIENT_STATUS.has($metadata?.httpStatusCode ?? 0)
    const next = isTransient && token instanceof Attempt ? token.next() : null
    if (next === null) throw error
    return next
  }

  recordSuccess(): void {}
}

/** What the SDK asks of a token: when the next attempt begins. */
class Attempt {
  readonly #count: number
  readonly #pause: number
  readonly #end: number

  constructor(count: number, pause: number, end: number) {
    this.#count = count
    this.#pause = pause
    this.#end = end
  }

  getRetryCount(): number {
    return this.#count
  }

  getRetryDelay(): number {
    return this.#pause
  }

  getRetryCost(): number | undefined {
    return undefined
  }

  next(): Attempt | null {
    const longest = Math.min(FIRST_PAUSE_MS * 2 ** this.#count, LONGEST_PAUSE_MS)
    const pause = Math.random() * longest
    return performance.now() + pause > this.#end
      ? null
      : new Attempt(this.#count + 1, pause, this.#end)
  }
}
