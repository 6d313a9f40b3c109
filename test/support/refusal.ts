import { type Code, Refusal } from '../../core/error/error.ts'

/** Whether an error is a refusal with this code, for `assert.rejects`. */
export const refusedWith = (code: Code) => (error: unknown) =>
  error instanceof Refusal && error.has(code)
