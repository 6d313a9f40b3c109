import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cargoVersion } from '../support/cargo.ts'
import type { Run } from '../support/command.ts'
import type { Capability, Driver } from './driver.ts'
import { Stage } from './stage.ts'
import { playStatements } from './statements.ts'

/** The special needs of a scenario. */
export interface ScenarioOptions {
  /** Settings of the registry that are not the default, as environment variables. */
  readonly settings?: NodeJS.ProcessEnv
  /** The oldest suitable client, as minor version of its Rust. */
  readonly since?: number
  /** Whether it sits out a wait of Cargo's own, and does little else. */
  readonly isPatient?: boolean
}

/** One behavior of the real client, tested with every driver that has its needs. */
export interface Scenario extends ScenarioOptions {
  readonly number: number
  readonly title: string
  readonly needs: readonly Capability[]
  readonly run: (stage: Stage) => Promise<void>
}

/** A scenario by its number in the list of `docs/work/conformance.md`. */
export function scenario(
  number: number,
  title: string,
  needs: readonly Capability[],
  run: (stage: Stage) => Promise<void>,
  options: ScenarioOptions = {},
): Scenario {
  return { number, title, needs, run, ...options }
}

/** Whether the driver has everything that the scenario needs. */
export function canPlay(driver: Driver, { needs }: Scenario): boolean {
  return needs.every(need => driver.capabilities.includes(need))
}

/** The scenarios that a client of Rust 1.`minor` plays with the driver. */
export function playable(
  driver: Driver,
  minor: number,
  scenarios: readonly Scenario[],
): Scenario[] {
  if (driver.unfit?.(minor)) return []
  return scenarios.filter(scenario => canPlay(driver, scenario) && minor >= (scenario.since ?? 0))
}

/** Registers every scenario that the driver and this client can play. */
export function register(driver: Driver, scenarios: readonly Scenario[]): void {
  const { minor, text } = cargoVersion
  const name = `conformance: ${driver.name}, ${text}`
  const unfit = driver.unfit?.(minor)
  if (unfit) {
    console.log(`${name}: not played, ${unfit}`)
    return
  }
  const chosen = playable(driver, minor, scenarios)
  const [quick, patient] = [
    chosen.filter(scenario => !scenario.isPatient),
    chosen.filter(scenario => scenario.isPatient),
  ]
  describe(name, { concurrency: 2 }, () => {
    // Three at a time: most of a test is waiting for processes.
    playAll('playing', 3, driver, quick)
    playAll('waiting', patient.length, driver, patient)
    // Cargo itself reads no repository of plain files.
    if (driver.capabilities.some(each => each === 'sparse' || each === 'git'))
      playStatements(driver)
  })
}

function playAll(
  name: string,
  concurrency: number,
  driver: Driver,
  scenarios: readonly Scenario[],
): void {
  if (scenarios.length === 0) return
  describe(name, { concurrency }, () => {
    for (const scenario of scenarios) play(driver, scenario)
  })
}

function play(driver: Driver, { number, title, settings = {}, run }: Scenario): void {
  it(`${number} ${title}`, { timeout: 180_000 }, async t => {
    const stage = await Stage.open(t, driver, settings)
    await run(stage)
    stage.expectNoStrayRequests()
  })
}

/** Cargo said this on stderr. */
export function says(run: Run, text: string | RegExp): void {
  const isPrinted = typeof text === 'string' ? run.stderr.includes(text) : text.test(run.stderr)
  assert.ok(isPrinted, `expected ${text} in:\n${run.stderr}`)
}

/** Cargo did not say this on stderr. */
export function saysNot(run: Run, text: string): void {
  assert.ok(!run.stderr.includes(text), `did not expect ${text} in:\n${run.stderr}`)
}
