import assert from 'node:assert/strict'
import type { Run } from '../support/command.ts'
import type { Capability, Driver } from './driver.ts'
import type { Stage } from './stage.ts'

/** What real Cargo and Plimsoll do together, tested with every driver that has its needs. */
export interface Scenario {
  /** Its numbers in the list of `docs/work/conformance.md`. */
  readonly numbers: readonly number[]
  readonly title: string
  readonly needs: readonly Capability[]
  /** The oldest suitable client, as minor version of its Rust. */
  readonly since?: number
  /** Settings of the registry that are not the default, as environment variables. */
  readonly settings?: NodeJS.ProcessEnv
  /** Whether Cargo may ask the stand-in for crates.io. */
  readonly usesCratesIo?: true
  readonly run: (stage: Stage) => Promise<void>
}

/** Whether the driver has everything that the scenario needs. */
export function canPlay(driver: Driver, { needs }: Scenario): boolean {
  return needs.every(need => driver.capabilities.includes(need))
}

/** Cargo said this on stderr. */
export function says(run: Run, text: string | RegExp): void {
  const isPrinted = typeof text === 'string' ? run.stderr.includes(text) : text.test(run.stderr)
  assert.ok(isPrinted, `expected ${text} in:\n${run.stderr}`)
}
