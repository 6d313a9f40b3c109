// Mirrors test/chaos/simulate: a few seeds of the simulation of several daemons.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Violation } from '../chaos/run.ts'
import { Simulations } from '../chaos/simulate/simulations.ts'
import { Cleanup } from '../support/cleanup.ts'
import { folderOf } from '../support/workplace.ts'

test('answers of several daemons have a sequential order, whatever is delayed or lost; a seed repeats', async t => {
  const simulations = await Simulations.open(folderOf(t))
  new Cleanup(t).add(() => simulations.close())
  const traces: string[] = []
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8, 1]) {
    const { simulation, error } = await simulations.play(seed)
    assert.equal(error, null, `seed ${seed}`)
    assert.ok(simulation.clients.operations > 0)
    traces.push(simulation.timeline.trace())
  }
  assert.equal(traces.at(-1), traces[0])
})

test('a simulation finds a database that loses commits', async t => {
  const simulations = await Simulations.open(folderOf(t))
  new Cleanup(t).add(() => simulations.close())
  for (let seed = 1; seed <= 20; seed++) {
    const { error } = await simulations.play(seed, 'lost commits')
    if (error === null) continue
    return assert.ok(error instanceof Violation, String((error as Error).stack))
  }
  assert.fail('20 seeds find nothing')
})
