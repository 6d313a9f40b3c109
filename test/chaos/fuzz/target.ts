/** Code that takes strangers' input. */
export interface Target {
  /** Its share of 1,000 cases. */
  readonly share: number
  readonly seeds: readonly (string | Uint8Array)[]
  /** Longest time for a case in milliseconds; the program gives these 20 s in a sandbox. */
  readonly budget?: number
  /** Fails unless the input is refused, or accepted with its promised properties. */
  run(input: Buffer): Promise<void> | void
}

/** For targets in a sandbox. */
export const SANDBOXED_MS = 5000
