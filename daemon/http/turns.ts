import pLimit from 'p-limit'
import { refuse } from '../../generator/index.ts'

/** The most requests that may wait for a turn. */
const WAITING_MAX = 16

/** Lets a few requests do costly work at a time; refuses those that would have to wait long. */
export class Turns {
  readonly #limit: ReturnType<typeof pLimit>

  /** `most`: how many may work at a time. */
  constructor(most: number) {
    this.#limit = pLimit(most)
  }

  /** Runs `work` when it is its turn. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#limit.pendingCount >= WAITING_MAX) refuse('server_busy')
    return this.#limit(work)
  }
}
