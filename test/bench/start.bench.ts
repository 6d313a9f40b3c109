/**
 * Start of the real program up to `listening on …`, in a small registry and in one of 200,000
 * crates, after an orderly end and after a kill; its memory when it has nothing to do, and how long
 * its first publish takes next to later ones. In an empty registry, processor time until `/readyz`
 * and memory, with `PLIMSOLL_BENCH_BESIDE` beside another build, whose `cli.js` it names.
 * `PLIMSOLL_BENCH_CRATES` is another number of crates.
 */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from '../support/measure.ts'
import { daemonOf, type Figures, inRounds, registryOf } from './support/builds.ts'
import { Contender } from './support/contender.ts'
import { filledRegistry } from './support/filled-registry.ts'
import { Program } from './support/program.ts'
import { publishBody } from './support/publishing.ts'
import { startDaemon } from './support/registry.ts'
import { bench, type Servers } from './support/servers.ts'
import { type Goal, type Measurement, measured } from './support/table.ts'

const ROUNDS = 7
/** Publishes after a start, each of them alone. */
const PUBLISHES = 10
const FEW = 10
const MANY = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 200_000)
const NOTHING = 'console.log("listening on 127.0.0.1:1"); setInterval(() => 0, 60_000)'

/** Milliseconds up to `listening`, one number for each start. */
interface Starts {
  readonly processor: number[]
  readonly wall: number[]
}

await bench(async servers => {
  const { folder } = servers
  const few = join(folder, 'few')
  const { dir, token } = await filledRegistry(FEW)
  cpSync(dir, few, { recursive: true })
  const many = (await filledRegistry(MANY)).dir
  const node = await starts(() => Program.start(process.execPath, ['-e', NOTHING]))
  const [small, large] = [
    await starts(() => startDaemon(few)),
    await starts(() => startDaemon(many)),
  ]
  const killed = await starts(() => startDaemon(few), 'SIGKILL')
  const [empty, idle] = [await idleMemory(few), await idleMemory(many)]
  const publish = await publishes(few, token)
  const later = { name: 'a later one', value: middle(publish.later) }
  const [ofFew, ofMany] = [`${FEW} crates`, `${MANY.toLocaleString('en-US')} crates`]
  return [
    measured(`${ofFew}: processor time`, middle(small.processor), 'ms', { atMost: 300 }),
    ...rows(ofFew, small, ['node -e 0', node]),
    measured(`${ofMany}: processor time`, middle(large.processor), 'ms', { atMost: 300 }),
    ...rows(ofMany, large, [ofFew, small], { atMost: 1.5 }),
    ...rows(`${ofFew}, after a kill`, killed, [ofFew, small], { atMost: 1.5 }),
    measured(`${ofFew}: first publish`, middle(publish.first), 'ms', { atMost: 4 }, later),
    measured(`${ofFew}: resident memory, idle`, empty, 'MiB'),
    measured(`${ofMany}: resident memory, idle`, idle, 'MiB', { atMost: 150 }),
    ...(await besides(servers)),
  ]
})

async function starts(
  start: () => Promise<Program>,
  signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM',
): Promise<Starts> {
  const all: Starts = { processor: [], wall: [] }
  for (let round = 0; round < ROUNDS; round++) {
    const program = await start()
    const { wall, usage } = program.start
    all.processor.push(usage.own + usage.ended)
    all.wall.push(wall)
    await program.stop(signal)
  }
  return all
}

async function idleMemory(dir: string): Promise<number> {
  const daemon = await startDaemon(dir)
  await daemon.quiet()
  const size = daemon.memory()
  await daemon.stop()
  return size
}

/** Starts of an empty registry until it is ready, and its memory, beside those of another build. */
function besides(servers: Servers): Promise<Measurement[]> {
  const units = {
    'empty: processor time until ready': ['ms'],
    'empty: resident memory, idle': ['MiB', { atMost: 95 }],
  } as const
  let rounds = 0
  return inRounds(ROUNDS, units, async builds => {
    const found: Figures[] = []
    for (const build of builds) {
      const dir = join(servers.folder, `empty-${rounds++}`)
      registryOf(build, dir, 1)
      const daemon = await servers.stopping(daemonOf(build, dir))
      const url = `http://127.0.0.1:${daemon.port}/readyz`
      while ((await fetch(url, { headers: { connection: 'close' } })).status !== 200) await sleep(5)
      const { own, ended } = daemon.usage()
      await daemon.quiet()
      found.push({
        'empty: processor time until ready': own + ended,
        'empty: resident memory, idle': daemon.memory(),
      })
      await daemon.stop()
    }
    return found
  })
}

/** Milliseconds of the first publishes after starts, and of later ones. */
async function publishes(dir: string, token: string) {
  const [first, later]: [number[], number[]] = [[], []]
  let published = 0
  // The first round is the first of this client, too.
  for (let round = 0; round <= ROUNDS; round++) {
    const daemon = await startDaemon(dir)
    await daemon.quiet()
    const contender = new Contender([daemon], { token }, () => [
      publishBody(`first-${published++}`, '1.0.0', 10_000),
    ])
    const times: number[] = []
    for (let publish = 0; publish < PUBLISHES; publish++) {
      times.push(...(await contender.publish(1, 1)).map(({ took }) => took))
      await daemon.quiet()
    }
    await daemon.stop()
    if (round === 0) continue
    first.push(...times.slice(0, 1))
    later.push(...times.slice(1))
  }
  return { first, later }
}

/** The medians of a start next to another's. */
function rows(
  what: string,
  own: Starts,
  [name, other]: [string, Starts],
  goal: Goal = {},
): Measurement[] {
  const row = (key: keyof Starts, words: string, goal: Goal) =>
    measured(`${what}: ${words}`, middle(own[key]), 'ms', goal, { name, value: middle(other[key]) })
  return [row('processor', 'processor time', goal), row('wall', 'wall', {})]
}

function middle(times: readonly number[]): number {
  return quantile(times, 0.5)
}
