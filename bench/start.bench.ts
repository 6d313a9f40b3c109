/**
 * Start of the real program up to `listening on …`, in a small registry and in one of 200,000
 * crates, after an orderly end and after a kill; and its memory when it has nothing to do.
 * `PLIMSOLL_BENCH_CRATES` is another number of crates.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { quantile } from '../test/support/measure.ts'
import { filledRegistry } from './support/filled-registry.ts'
import { Program } from './support/program.ts'
import { startDaemon } from './support/registry.ts'
import { type Measurement, printTable } from './support/table.ts'

const ROUNDS = 7
const FEW = 10
const MANY = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 200_000)
const NOTHING = 'console.log("listening on 127.0.0.1:1"); setInterval(() => 0, 60_000)'

/** Milliseconds up to `listening`, one number for each start. */
interface Starts {
  readonly processor: number[]
  readonly wall: number[]
}

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
try {
  const few = join(folder, 'few')
  cpSync((await filledRegistry(FEW)).dir, few, { recursive: true })
  const many = (await filledRegistry(MANY)).dir
  const node = await starts(() => Program.start(process.execPath, ['-e', NOTHING]))
  const [small, large] = [
    await starts(() => startDaemon(few)),
    await starts(() => startDaemon(many)),
  ]
  const killed = await starts(() => startDaemon(few), 'SIGKILL')
  const [empty, idle] = [await idleMemory(few), await idleMemory(many)]
  printTable([
    ...rows(`${FEW} crates`, small, ['node -e 0', node], { atMost: 300 }),
    ...rows(
      `${MANY.toLocaleString('en-US')} crates`,
      large,
      [`${FEW} crates`, small],
      { atMost: 300 },
      { atMost: 1.5 },
    ),
    ...rows(`${FEW} crates, after a kill`, killed, [`${FEW} crates`, small], {}, { atMost: 1.5 }),
    { what: `${FEW} crates: resident memory, idle`, value: empty, unit: 'MiB' },
    {
      what: `${MANY.toLocaleString('en-US')} crates: resident memory, idle`,
      value: idle,
      unit: 'MiB',
      goal: { atMost: 150 },
    },
  ])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

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

/** The medians of a start: by itself, and next to another. */
function rows(
  what: string,
  own: Starts,
  [name, other]: [string, Starts],
  goal: NonNullable<Measurement['goal']>,
  ratioGoal: NonNullable<Measurement['goal']> = {},
): Measurement[] {
  const middle = (times: readonly number[]) => quantile(times, 0.5)
  const processor = { what: `${what}: processor time`, value: middle(own.processor), unit: 'ms' }
  return [
    ...(Object.keys(goal).length > 0 ? [{ ...processor, goal }] : []),
    { ...processor, yardstick: { name, value: middle(other.processor) }, goal: ratioGoal },
    {
      what: `${what}: wall`,
      value: middle(own.wall),
      unit: 'ms',
      yardstick: { name, value: middle(other.wall) },
    },
  ]
}
