/** The order to a worker. */
export interface Job {
  readonly seed: number
  readonly count: number
  readonly deadline: number
  readonly corpus: string
  /** The names of the targets, with commas; null for all. */
  readonly only: string | null
  /** The input of the case at work: its number, its length, its bytes. */
  readonly current: SharedArrayBuffer
}

/** A worker's report on the cases of one target. */
export interface Report {
  readonly target: string
  readonly cases: number
  readonly slowest: number
  /** Inputs, in base64, that did something new. */
  readonly fresh: readonly string[]
  readonly failure: { readonly why: string; readonly input: string } | null
}

/** Longest time for a case, in milliseconds, on a machine that does other things, too. */
export const CASE_MS = 1000
