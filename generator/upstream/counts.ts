import type { AlarmKind } from '../../core/upstream/crate.ts'

/** What has happened with an upstream since this process began; for metrics. */
export interface UpstreamCounts {
  /** Files that were here, and those that the upstream was asked for. */
  hits: number
  misses: number
  /** Bytes of `.crate` files that came from the upstream. */
  bytes: number
  /** Bytes of the `.crate` files that are kept, when they were last counted; null before that. */
  kept: number | null
  /** Requests that the upstream did not answer as it should. */
  errors: number
  /** Answers that are older than the settings want, because the upstream is away. */
  stale: number
  /** Lines that were left out: of another crate, twice the same, or not readable by Cargo. */
  dropped: number
  readonly alarms: Map<AlarmKind, number>
  /** When the upstream last answered, in milliseconds since 1970; null before that. */
  answered: number | null
  /** Why the last request failed; null when it did not. */
  failure: string | null
}

/** Returns the counts of an upstream that nobody has asked yet. */
export function newCounts(): UpstreamCounts {
  return {
    hits: 0,
    misses: 0,
    bytes: 0,
    kept: null,
    errors: 0,
    stale: 0,
    dropped: 0,
    alarms: new Map(),
    answered: null,
    failure: null,
  }
}

/** Counts a request that failed. */
export function failed(counts: UpstreamCounts, error: unknown): void {
  counts.errors++
  counts.failure = error instanceof Error ? error.message : String(error)
}
