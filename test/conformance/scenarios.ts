import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cargoVersion } from '../support/cargo.ts'
import type { Driver } from './driver.ts'
import { faults } from './faults.ts'
import { gitIndex } from './git-index.ts'
import { publish } from './publish.ts'
import { releases } from './releases.ts'
import { canPlay, type Scenario } from './scenario.ts'
import { Stage } from './stage.ts'
import { playStatements } from './statements.ts'

/** The suite by the files it is written in. */
export const subjects: Readonly<Record<string, readonly Scenario[]>> = {
  'releases.ts': releases,
  'publish.ts': publish,
  'faults.ts': faults,
  'git-index.ts': gitIndex,
}

/** The suite. */
export const scenarios: readonly Scenario[] = Object.values(subjects).flat()

/** Registers the statements, and every scenario that the driver and this client can play. */
export function register(driver: Driver): void {
  const { minor, text } = cargoVersion
  const name = `conformance: ${driver.name}, ${text}`
  const unfit = driver.unfit?.(minor)
  if (unfit) {
    console.log(`${name}: not played, ${unfit}`)
    return
  }
  // Most of a test is waiting for processes.
  describe(name, { concurrency: 3 }, () => {
    playStatements(driver)
    for (const scenario of scenarios)
      if (canPlay(driver, scenario) && minor >= (scenario.since ?? 0)) play(driver, scenario)
  })
}

function play(driver: Driver, { numbers, title, settings = {}, usesCratesIo, run }: Scenario) {
  it(`${numbers.join(', ')} ${title}`, { timeout: 180_000 }, async t => {
    const stage = await Stage.open(t, driver, settings)
    await run(stage)
    // No cargo may have wandered off.
    if (!usesCratesIo) assert.deepEqual(stage.cratesIo.requests?.lines, [])
  })
}
