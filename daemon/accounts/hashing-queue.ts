import { refuse } from '../../generator/index.ts'

/** Where somebody stands who wants a password hashed. */
export interface LoginPriority {
  /**
   * Whether it is shown that the account is theirs to use: by a browser that did, a session or a
   * one-time link.
   */
  readonly isKnown: boolean
  /** How many attempts like this one came of late from where it comes, this one included. */
  readonly recent: number
}

/**
 * The priority of whoever needs no limit: the operator, or what was checked before it gets here.
 */
export const TOP_PRIORITY: LoginPriority = { isKnown: true, recent: 0 }

interface Waiting {
  readonly priority: LoginPriority
  readonly begin: () => void
  readonly giveUp: () => void
}

/**
 * Does so many things at once, and lets so many wait. Known ones go first, then who has tried least
 * of late, then who came first; when too many wait, the last in that order is refused and not the
 * newest. So many strangers guessing can keep other strangers waiting, but nobody known, and those
 * who guess often keep nobody.
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
   * Does the work when it is its turn. Refuses it (`logins_busy`) when too many with a better
   * priority wait.
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
