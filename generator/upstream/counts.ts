import { Refusal } from '../../core/error/error.ts'
import type { AlarmKind } from '../../core/upstream/crate.ts'
import { WebFailure } from '../web/failure.ts'

/** What has happened with an upstream since this process began; for metrics. */
export class UpstreamCounts {
  /** Files that were here, and those that the upstream was asked for. */
  hits = 0
  misses = 0
  bytes = 0
  /** Bytes of the index lines and `.crate` files that are kept, when they were last counted; null before that. */
  kept: number | null = null
  errors = 0
  /** Answers that are older than the settings want, because the upstream is away, or was asked too much. */
  stale = 0
  readonly alarms = new Map<AlarmKind, number>()
  /** When the upstream last answered, in milliseconds since 1970; null before that. */
  answered: number | null = null
  /** Why the last request failed; null when it did not. */
  failure: string | null = null
  /** Called with request and reason when requests begin to fail, or fail otherwise; then with null. */
  onTurn: (reason: string | null) => void = () => undefined
  #kind: unknown = null

  /** Notes an answer, at a time in milliseconds since 1970. */
  succeeded(now: number): void {
    this.answered = now
    if (this.failure !== null) this.onTurn(null)
    this.failure = null
  }

  failed(error: unknown): void {
    this.errors++
    const reason = error instanceof Error ? error.message : String(error)
    const cause = error instanceof Refusal ? (error.cause ?? error.issues[0].code) : error
    // As clients are told apart, who find the reason in the log.
    const kind = cause instanceof WebFailure ? (cause.status ?? cause.isNetwork) : String(cause)
    if (this.failure === null || kind !== this.#kind)
      this.onTurn(error instanceof WebFailure ? `${error.url}: ${reason}` : reason)
    this.failure = reason
    this.#kind = kind
  }
}
