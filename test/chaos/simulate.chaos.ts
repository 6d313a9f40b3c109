/**
 * Several daemons in one process against a database and an object storage that delay, reorder and
 * lose answers, by a seed: the same seed gives the same order of events. Over thousands of seeds,
 * clients' answers must have a sequential order, readers of the bucket never see a line without its
 * `.crate` or an index file that is older than one before, and after the last fault everything is
 * rendered within ten seconds. Planted faults must be found.
 */
import { existsSync } from 'node:fs'
import { chaos, ensure, type Run, Violation } from './run.ts'
import type { Plant, Simulation } from './simulate/simulation.ts'
import { Simulations } from './simulate/simulations.ts'

/** Files in memory cost nothing; elsewhere the program is slower. */
const MEMORY = '/dev/shm'
/** One in this many seeds runs twice. */
const TWICE_EVERY = 50
/** The count is printed after this many seeds. */
const SAID_EVERY = 200
/** A planted fault must be found within this many seeds. */
const PLANT_SEEDS = 300
const PLANTS: readonly Plant[] = ['conditions', 'early bytes', 'lost commits', 'no takeover']

const parent = existsSync(MEMORY) ? { parent: MEMORY } : {}
await chaos('simulate', { count: 2000, minutes: 15, ...parent }, async run => {
  const simulations = await Simulations.open(run.folder)
  try {
    await manySeeds(run, simulations)
    for (const plant of PLANTS) await findPlanted(run, plant, simulations)
  } finally {
    await simulations.close()
  }
})

async function manySeeds(run: Run, simulations: Simulations): Promise<void> {
  const began = performance.now()
  const sums = new Map<string, number>()
  const add = (name: string, count: number) => sums.set(name, (sums.get(name) ?? 0) + count)
  let seeds = 0
  let twice = 0
  try {
    for (; seeds < run.count && performance.now() < run.deadline; seeds++) {
      const seed = run.seed + seeds
      const { simulation, error } = await simulations.play(seed)
      if (error !== null) throw failed(seed, simulation, error)
      countEvents(simulation, add)
      if (seeds % SAID_EVERY === SAID_EVERY - 1) console.log(`  ${seeds + 1} seeds`)
      if (seeds % TWICE_EVERY !== 0) continue
      const again = (await simulations.play(seed)).simulation
      const traces = [simulation.timeline.trace(), again.timeline.trace()]
      ensure(traces[0] === traces[1], `seed ${seed} has two orders of events: ${traces}`)
      twice++
    }
  } finally {
    const seconds = (performance.now() - began) / 1000
    run.row('seeds', `${seeds}, ${(seeds / seconds).toFixed(1)} a second; ${twice} of them twice`)
    for (const [name, count] of sums) run.row(name, count)
  }
}

function countEvents(simulation: Simulation, add: (name: string, count: number) => void): void {
  const { timeline, network, clients, faults, server, checks } = simulation
  add('events', timeline.steps)
  add('virtual seconds', Math.round(timeline.now / 1000))
  add('operations', clients.operations)
  add('refused', clients.refused)
  add('no answer', clients.unanswered)
  add('answered with 503', clients.away)
  add('commits', server.commits)
  add('lost answers of database and bucket', network.fates.lost)
  add('broken connections', network.fates.cut)
  add('busy answers', network.fates.busy)
  add('older index files after the same bytes had come back', checks.older)
  for (const [kind, count] of faults.counts) add(`fault: ${kind}`, count)
}

function failed(seed: number, { timeline }: Simulation, error: unknown): unknown {
  if (!(error instanceof Violation)) return error
  const lines = timeline.recent.slice(-60).map(line => `  ${line}`)
  const words = `at ${timeline.now.toFixed(0)} ms of seed ${seed}: ${error.message}`
  return new Violation(`${words}\nthe last events:\n${lines.join('\n')}`)
}

async function findPlanted(run: Run, plant: Plant, simulations: Simulations): Promise<void> {
  for (let at = 0; at < PLANT_SEEDS; at++) {
    const { error } = await simulations.play(run.seed + at, plant)
    if (error === null) continue
    if (!(error instanceof Violation)) throw error
    run.row(`planted: ${plant}`, `found with seed ${at + 1}`)
    console.log(`  ${plant}: ${error.message.split('\n')[0]}`)
    return
  }
  throw new Violation(`with ${plant}, ${PLANT_SEEDS} seeds find nothing wrong`)
}
