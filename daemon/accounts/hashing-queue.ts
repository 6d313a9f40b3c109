import { refuse } from '../../generator/index.ts'

/** Where somebody stands who wants a password hashed. */
export interface LoginPriority {
  /** Whether the caller is known to the account: by device cookie, session or one-time link. */
  readonly isKnown: boolean
  /** How many attempts like this one came of late from where it comes, this one included. */
  readonly recent: number
}

/** For callers who need no limit: the operator, or a request that was checked before. */
export const TOP_PRIORITY: LoginPriority = { isKnown: true, recent: 0 }

interface Waiting {
  readonly priority: LoginPriority
  readonly begin: () => void
  readonly giveUp: () => void
}

/**
 * Limits concurrent work, and how much of it waits. Known callers go first, then those with the
 * fewest recent attempts, then the oldest. When too many wait, the last in that order is refused.
 * So strangers who guess can delay other strangers, but no known caller.
 */
export class HashingQueue {
  readonly #atOnce: number
  readonly #mostWaiting: number
  readonly #waiting: Waiting[] = []
  #running = 0

  constructor({ atOnce, mostWaiting }: { readonly atOnce: number; readonly mostWaiting: number }) {
    this.#atOnce = atOnce
    this.#mostWaiting = mostWaiting
  }

  /**
   * Does the work in its turn. Refuses it (`logins_busy`) when too many with a better priority
   * wait.
   */
  async run<Result>(priority: LoginPriority, work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#atOnce) this.#running++
    else if (!(await this.#turn(priority))) refuse('logins_busy')
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      // The place is handed on, so that nobody who comes in between takes it.
      if (next) next.begin()
      else this.#running--
    }
  }

  #turn(priority: LoginPriority): Promise<boolean> {
    return new Promise(resolve => {
      const before = this.#waiting.findIndex(one => isBefore(priority, one.priority))
      const entry = { priority, begin: () => resolve(true), giveUp: () => resolve(false) }
      this.#waiting.splice(before < 0 ? this.#waiting.length : before, 0, entry)
      if (this.#waiting.length > this.#mostWaiting) this.#waiting.pop()?.giveUp()
    })
  }
}

function isBefore(one: LoginPriority, other: LoginPriority): boolean {
  return one.isKnown === other.isKnown ? one.recent < other.recent : one.isKnown
}
