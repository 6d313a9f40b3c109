/**
 * Publishing over HTTP to the real program, next to scripts that make the same bytes durable, one
 * with minimal checks and records (`bench/yardsticks`), and to NORA where `bench/peers/nora.sh` has
 * built it. They take turns, so that other work on the machine slows all of them down alike.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../test/support/loopback.ts'
import { quantile } from '../test/support/measure.ts'
import { Contender, type Outcome } from './support/contender.ts'
import { Program } from './support/program.ts'
import { CACHE, newRegistry, startDaemon } from './support/registry.ts'
import { canTrace, Trace } from './support/system-calls.ts'
import { type Measurement, printTable, type Yardstick } from './support/table.ts'

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
/** `bench/yardsticks` describes them. */
const SCRIPTS = [
  ['bare script', 'publish'],
  ['checking script', 'checked-publish'],
] as const
const NORA = join(CACHE, 'peers', 'nora-1.4.3', 'bin', 'nora')

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
const contenders = new Map<string, Contender>()
try {
  const home = join(folder, 'registry')
  const token = await newRegistry(home)
  contenders.set('Plimsoll', new Contender([await startDaemon(home)], { token }))
  for (const [name, file] of SCRIPTS) {
    const home = join(folder, file)
    const script = join(dirname(fileURLToPath(import.meta.url)), 'yardsticks', `${file}.js`)
    const program = await Program.start(process.execPath, [script, home])
    contenders.set(name, new Contender([program], { token }))
  }
  if (existsSync(NORA)) contenders.set('NORA 1.4.3', await startNora(join(folder, 'nora')))
  for (const contender of contenders.values())
    for (const [clients, count] of WARM) await contender.warm(clients, count)
  for (let round = 0; round < ROUNDS; round++)
    for (const contender of contenders.values())
      for (const [clients, count] of COUNTS) await contender.measure(clients, count)
  printTable([...rows(), ...(await countCalls())])
} finally {
  for (const { programs } of contenders.values())
    for (const program of programs) await program.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function startNora(dir: string): Promise<Contender> {
  mkdirSync(dir)
  const port = await freePort()
  const env = {
    NORA_HOST: '127.0.0.1',
    NORA_PORT: String(port),
    NORA_STORAGE_PATH: dir,
    NORA_PUBLIC_URL: `http://127.0.0.1:${port}`,
    NORA_RATE_LIMIT_ENABLED: 'false',
    NORA_REGISTRIES_ENABLE: 'cargo',
    NORA_CARGO_PROXY: '',
  }
  const program = await Program.start(NORA, ['serve'], { env, port })
  return new Contender([program], { base: '/cargo', token: 'none' })
}

function rows(): Measurement[] {
  const value = (name: string, clients: number, key: keyof Outcome, part = 0.5) =>
    contenders.get(name)?.value(clients, key, part) ?? null
  const row = (what: string, unit: string, clients: number, key: keyof Outcome, part = 0.5) => {
    const beside = (name: string): Yardstick => ({ name, value: value(name, clients, key, part) })
    const own = { what, unit, value: value('Plimsoll', clients, key, part) ?? Number.NaN }
    return {
      own,
      script: { ...own, yardstick: beside('bare script') },
      checking: { ...own, yardstick: beside('checking script') },
      nora: { ...own, yardstick: beside(existsSync(NORA) ? 'NORA 1.4.3' : 'NORA: not built') },
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
    return [
      { ...answer.own, goal: { atMost: 5 } },
      answer.script,
      answer.checking,
      { ...quiet.own, goal: { atMost: 15 } },
      quiet.nora,
    ]
  })
  return [
    { ...alone.script, goal: { atMost: 2 } },
    { ...alone.nora, goal: { atMost: 1 } },
    alone.checking,
    oneP95.script,
    oneP95.nora,
    { ...many.script, goal: { atLeast: 1.5 } },
    { ...many.nora, goal: { atLeast: 1 } },
    many.checking,
    manyP95.script,
    manyP95.nora,
    ...cost,
  ]
}

/** Syncs and programs, from runs of their own: counting them slows a program down. */
async function countCalls(): Promise<Measurement[]> {
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
  return [
    {
      what: 'one client: syncs before the answer',
      value: quantile(within, 0.5),
      unit: 'a publish',
      goal: { atMost: 4 },
    },
    {
      what: 'one client: syncs until all is quiet',
      value: single.calls.syncs.length / single.done.length,
      unit: 'a publish',
    },
    {
      what: '16 clients: syncs until the last answer',
      value: before(many.calls.syncs) / many.done.length,
      unit: 'a publish',
    },
    {
      what: '16 clients: programs started until the last answer',
      value: before(many.calls.programs) / seconds,
      unit: 'a second',
      goal: { atMost: 1 },
    },
    {
      what: '16 clients: programs started until all is quiet',
      value: perPublish(many.calls.programs),
      unit: 'a publish',
    },
    {
      what: 'one client, pausing: programs started',
      value: single.calls.programs.length / single.done.length,
      unit: 'a publish',
    },
  ]
}
