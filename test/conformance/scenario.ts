import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cargoVersion } from '../support/cargo.ts'
import type { Run } from '../support/command.ts'
import type { Capability, Driver } from './driver.ts'
import { Stage } from './stage.ts'

/** One behaviour of the real client, to be seen with every driver that has what it needs. */
export interface Scenario {
  readonly title: string
  readonly needs: readonly Capability[]
  /** Settings of the registry that are not the default, as environment variables. */
  readonly settings: NodeJS.ProcessEnv
  readonly run: (stage: Stage) => Promise<void>
}

/** A scenario by its number in the list of `docs/conformance.md`. */
export function scenario(
  number: number,
  title: string,
  needs: readonly Capability[],
  run: (stage: Stage) => Promise<void>,
  settings: NodeJS.ProcessEnv = {},
): Scenario {
  return { title: `${number} ${title}`, needs, settings, run }
}

/** Whether the driver has all that the scenario needs. */
export function canPlay(driver: Driver, { needs }: Scenario): boolean {
  return needs.every(need => driver.capabilities.includes(need))
}

/** Registers every scenario that the driver can play, three at a time: most of a test is waiting for processes. */
export function register(driver: Driver, scenarios: readonly Scenario[]): void {
  const playable = scenarios.filter(one => canPlay(driver, one))
  describe(`conformance: ${driver.name}, ${cargoVersion.text}`, { concurrency: 3 }, () => {
    for (const { title, settings, run } of playable) {
      it(title, { timeout: 120_000 }, async t => {
        const stage = await Stage.open(t, driver, settings)
        await run(stage)
        stage.expectNoStrayRequests()
      })
    }
  })
}

/** Cargo said this on stderr. */
export function says(run: Run, text: string | RegExp): void {
  const said = typeof text === 'string' ? run.stderr.includes(text) : text.test(run.stderr)
  assert.ok(said, `expected ${text} in:\n${run.stderr}`)
}

/** Cargo did not say this on stderr. */
export function saysNot(run: Run, text: string): void {
  assert.ok(!run.stderr.includes(text), `did not expect ${text} in:\n${run.stderr}`)
}
