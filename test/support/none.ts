import assert from 'node:assert/strict'

/** Fails with what was found, if anything was. */
export function none(found: readonly unknown[]): void {
  assert.deepEqual(found, [])
}
