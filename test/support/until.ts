import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Far more milliseconds than anything takes on a busy machine: only what never comes takes longer.
 */
const TIMEOUT_MS = 60_000

/**
 * Waits until something holds, looking every few milliseconds; fails with what `never` says when it
 * does not come in `timeoutMs`.
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  never: () => string,
  timeoutMs = TIMEOUT_MS,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, never())
    await sleep(10)
  }
}
