import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds: far more than anything takes on a busy machine. */
const TIMEOUT_MS = 60_000

/**
 * Waits until a condition holds, looking every few milliseconds; fails with the text of `never`
 * after `timeoutMs`.
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  never: string | (() => string),
  timeoutMs = TIMEOUT_MS,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await holds())) {
    const isLate = performance.now() > deadline
    if (isLate) assert.fail(typeof never === 'string' ? never : never())
    await sleep(10)
  }
}
