import { SandboxError } from './thread.ts'

/** Why something is shown as plain text. */
export interface Failure {
  /** A clause, for the page. */
  readonly because: string
  /** What only the operator should know; null when there is no more to say. */
  readonly detail: string | null
}

/** The failure that an error of the sandbox stands for; throws every other error. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof SandboxError)) throw error
  return error.reason === 'failure'
    ? { because: 'it cannot be rendered', detail: error.message }
    : { because: error.message, detail: null }
}
