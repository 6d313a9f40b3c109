/** What takes input of strangers. */
export interface Target {
  /** How many of 1,000 cases are of it. */
  readonly share: number
  readonly seeds: readonly (string | Uint8Array)[]
  /** Longest time for a case in milliseconds; the program gives these 20 s in a sandbox. */
  readonly budget?: number
  /** Fails unless the input is refused, or taken with what is promised of it. */
  run(input: Buffer): Promise<void> | void
}

/** For what runs in a sandbox. */
export const SANDBOXED_MS = 5000
