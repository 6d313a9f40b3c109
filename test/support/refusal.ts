import assert from 'node:assert/strict'
import { type Code, Refusal } from '../../core/error/error.ts'

/** For `assert.rejects` and `assert.throws`: whether an error is a refusal for this reason. */
export const refusedWith =
  (code: Code) =>
  (error: unknown): true => {
    assert.ok(error instanceof Refusal, String(error))
    assert.ok(error.has(code), error.message)
    return true
  }

/** The messages of the refusal that some work ends with; none when it is done. */
export function objectionsTo(work: () => unknown): string[] {
  try {
    work()
  } catch (error) {
    if (error instanceof Refusal) return error.issues.map(issue => issue.message)
    throw error
  }
  return []
}
