import { refuse } from '../../generator/index.ts'

/** Where somebody stands who wants a password hashed. */
export interface Standing {
  /** Whether it is shown that the account is theirs to use: by a browser that did, a session or a one-time link. */
  readonly isKnown: boolean
  /** How many attempts like this one came of late from where it comes, this one included. */
  readonly recent: number
}

/** The standing of whoever needs no limit: the operator, or what was checked before it gets here. */
export const FIRST: Standing = { isKnown: true, recent: 0 }

interface Waiting {
  readonly standing: Standing
  readonly begin: () => void
  readonly giveUp: () => void
}

/**
 * Does so many things at once, and lets so many wait. Known ones go first, then who has tried least of late, then who
 * came first; when too many wait, the last in that order is refused and not the newest. So many strangers guessing can
 * keep other strangers waiting, but nobody known, and those who guess often keep nobody.
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

  /** Does the work when it is its turn. Refuses it (`logins_busy`) when too many with a better standing wait. */
  async run<Result>(standing: Standing, work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#atOnce) this.#running++
    else if (!(await this.#turn(standing))) refuse('logins_busy')
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      // The place is handed on, so that nobody who comes in between takes it.
      if (next) next.begin()
      else this.#running--
    }
  }

  #turn(standing: Standing): Promise<boolean> {
    return new Promise(resolve => {
      const before = this.#waiting.findIndex(one => isBefore(standing, one.standing))
      const entry = { standing, begin: () => resolve(true), giveUp: () => resolve(false) }
      this.#waiting.splice(before < 0 ? this.#waiting.length : before, 0, entry)
      if (this.#waiting.length > this.#mostWaiting) this.#waiting.pop()?.giveUp()
    })
  }
}

function isBefore(one: Standing, other: Standing): boolean {
  return one.isKnown === other.isKnown ? one.recent < other.recent : one.isKnown
}
