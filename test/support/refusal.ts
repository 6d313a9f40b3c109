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
