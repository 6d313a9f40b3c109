/**
 * Publishing over HTTP to the real program, next to scripts that make the same bytes durable, one
 * with minimal checks and records (`test/bench/yardsticks`), and to NORA where `test/bench/peers/nora.sh` has
 * built it. They take turns, so that other work on the machine slows all of them down alike.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../support/loopback.ts'
import { quantile } from '../support/measure.ts'
import { startNora } from './peers/registries.ts'
import { Contender, type Outcome } from './support/contender.ts'
import { Program } from './support/program.ts'
import type { Address } from './support/publishing.ts'
import { CACHE, newRegistry } from './support/registry.ts'
import { bench } from './support/servers.ts'
import { canTrace, Trace } from './support/system-calls.ts'
import { type Goal, type Measurement, measured } from './support/table.ts'

const ROUNDS = 3
/** Publishes of a round by one client, and by 16. */
const COUNTS = new Map([
  [1, 40],
  [16, 160],
])
/** Publishes before the first round: V8 needs some hundred to compile the hot code. */
const WARM = new Map([
  [1, 20],
  [16, 480],
])
/** `test/bench/yardsticks` describes them. */
const SCRIPTS = [
  ['bare script', 'publish'],
  ['checking script', 'checked-publish'],
] as const
const NORA = join(CACHE, 'peers', 'nora-1.4.3', 'bin', 'nora')

const contenders = new Map<string, Contender>()

await bench(async servers => {
  const { folder } = servers
  const home = join(folder, 'registry')
  const token = await newRegistry(home)
  const contend = (name: string, program: Program, at: Omit<Address, 'port'> = { token }) =>
    contenders.set(name, new Contender([program], at))
  contend('Plimsoll', await servers.daemon(home))
  for (const [name, file] of SCRIPTS) {
    const script = join(dirname(fileURLToPath(import.meta.url)), 'yardsticks', `${file}.js`)
    const args = [script, join(folder, file)]
    contend(name, await servers.stopping(Program.start(process.execPath, args)))
  }
  if (existsSync(NORA)) {
    const program = await servers.stopping(startNora(NORA, join(folder, 'nora'), await freePort()))
    contend('NORA 1.4.3', program, { base: '/cargo', token: 'none' })
  }
  for (const contender of contenders.values())
    for (const [clients, count] of WARM) await contender.warm(clients, count)
  for (let round = 0; round < ROUNDS; round++)
    for (const contender of contenders.values())
      for (const [clients, count] of COUNTS) await contender.measure(clients, count)
  return [...rows(), ...(await countCalls(folder))]
})

function rows(): Measurement[] {
  const value = (name: string, clients: number, key: keyof Outcome, part = 0.5) =>
    contenders.get(name)?.value(clients, key, part) ?? null
  const nora = existsSync(NORA) ? 'NORA 1.4.3' : 'NORA: not built'
  const row = (what: string, unit: string, clients: number, key: keyof Outcome, part = 0.5) => {
    const own = value('Plimsoll', clients, key, part) ?? Number.NaN
    const beside = (name: string) => (goal: Goal) =>
      measured(what, own, unit, goal, { name, value: value(name, clients, key, part) })
    return {
      alone: (goal: Goal) => measured(what, own, unit, goal),
      script: beside('bare script'),
      checking: beside('checking script'),
      nora: beside(nora),
    }
  }
  const alone = row('one client: median', 'ms', 1, 'times')
  const oneP95 = row('one client: p95', 'ms', 1, 'times', 0.95)
  const many = row('16 clients: publishes', 'per second', 16, 'perSecond')
  const manyP95 = row('16 clients: p95', 'ms', 16, 'times', 0.95)
  const cost = ([1, 16] as const).flatMap(clients => {
    const who = clients === 1 ? 'one client' : '16 clients'
    const answer = row(`${who}: processor time until the answer`, 'ms', clients, 'untilAnswer')
    const quiet = row(`${who}: processor time until all is quiet`, 'ms', clients, 'untilQuiet')
    const least = [answer.alone({ atMost: 5 }), answer.script({}), answer.checking({})]
    return [...least, quiet.alone({ atMost: 15 }), quiet.nora({})]
  })
  return [
    ...[alone.script({ atMost: 2 }), alone.nora({ atMost: 1 }), alone.checking({})],
    ...[oneP95.script({}), oneP95.nora({})],
    ...[many.script({ atLeast: 1.5 }), many.nora({ atLeast: 1 }), many.checking({})],
    ...[manyP95.script({}), manyP95.nora({})],
    ...cost,
  ]
}

/** Syncs and programs, from runs of their own: counting them slows a program down. */
async function countCalls(folder: string): Promise<Measurement[]> {
  if (!canTrace()) {
    console.log('syncs and programs are not counted: there is no strace (apt-get install strace)')
    return []
  }
  const contender = contenders.get('Plimsoll')
  if (!contender) throw new Error('no daemon')
  const [program] = contender.programs
  const trace = async (clients: number, count: number, times: number) => {
    const attached = await Trace.attach(program?.pid ?? 0, join(folder, 'trace'))
    const done = []
    for (let time = 0; time < times; time++) {
      done.push(...(await contender.publish(clients, count)))
      await contender.quiet()
    }
    return { done, calls: await attached.stop() }
  }
  const single = await trace(1, 1, 8)
  const within = single.done.map(
    ({ at, took }) => single.calls.syncs.filter(time => time >= at && time <= at + took).length,
  )
  const many = await trace(16, 160, 1)
  const end = Math.max(...many.done.map(({ at, took }) => at + took))
  const seconds = (end - Math.min(...many.done.map(({ at }) => at))) / 1000
  const before = (times: readonly number[]) => times.filter(time => time <= end).length
  const perPublish = (times: readonly number[]) => times.length / many.done.length
  const ofOne = (times: readonly number[]) => times.length / single.done.length
  const [one, all, unit] = ['one client', '16 clients', 'a publish']
  const syncs = before(many.calls.syncs) / many.done.length
  const rate = before(many.calls.programs) / seconds
  return [
    measured(`${one}: syncs before the answer`, quantile(within, 0.5), unit, { atMost: 4 }),
    measured(`${one}: syncs until all is quiet`, ofOne(single.calls.syncs), unit),
    measured(`${all}: syncs until the last answer`, syncs, unit),
    measured(`${all}: programs started until the last answer`, rate, 'a second', { atMost: 1 }),
    measured(`${all}: programs started until all is quiet`, perPublish(many.calls.programs), unit),
    measured(`${one}, pausing: programs started`, ofOne(single.calls.programs), unit),
  ]
}
