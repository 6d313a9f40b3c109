import { setTimeout as sleep } from 'node:timers/promises'

/** A failure after which the same request may succeed. */
export class Transient extends Error {
  override readonly name = 'Transient'
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

/**
 * Runs `work` until it succeeds or throws what is not transient, or until `budget` milliseconds are
 * over; then throws the last failure. Pauses double, and are anything between nothing and their
 * full length ("full jitter"), so that many clients do not come back at once.
 */
export async function retried<T>(
  budget: number,
  work: () => Promise<T>,
  isTransient: (error: unknown) => boolean = error => error instanceof Transient,
): Promise<T> {
  const end = performance.now() + budget
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await work()
    } catch (error) {
      const wait = Math.random() * pause
      if (!isTransient(error) || performance.now() + wait > end) throw error
      await sleep(wait)
    }
  }
}
