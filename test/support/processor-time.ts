import assert from 'node:assert/strict'

/** 5 seconds: far more than linear work takes, far less than quadratic work. */
const BUDGET = 5_000

/** Runs work that must be cheap; only its processor time counts, not other load on the machine. */
export function frugally<T>(work: () => T, what = 'it', milliseconds = BUDGET): T {
  const before = process.cpuUsage()
  const result = work()
  assertSpent(before, what, milliseconds)
  return result
}

/** Does the same as `frugally` for work that is waited for. */
export async function frugallyInTheEnd<T>(
  work: () => Promise<T>,
  what = 'it',
  milliseconds = BUDGET,
): Promise<T> {
  const before = process.cpuUsage()
  const result = await work()
  assertSpent(before, what, milliseconds)
  return result
}

function assertSpent(before: NodeJS.CpuUsage, what: string, milliseconds: number): void {
  const { user, system } = process.cpuUsage(before)
  const used = (user + system) / 1000
  assert.ok(used < milliseconds, `${what} took ${used} ms of processor time`)
}
