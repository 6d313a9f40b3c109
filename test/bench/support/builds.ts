import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { FileLocks } from '../../../generator/places/locks/lock.ts'
import { quantile } from '../../support/measure.ts'
import { hostEnvironment } from '../../support/plimsoll.ts'
import { Program } from './program.ts'
import { CLI, UNLIMITED } from './registry.ts'
import { type Goal, type Measurement, measured } from './table.ts'

/** The program of a build: this one, or the one whose `cli.js` `PLIMSOLL_BENCH_BESIDE` names. */
export interface Build {
  readonly name: string
  readonly program: string
}

const beside = process.env.PLIMSOLL_BENCH_BESIDE ?? null
const BUILDS: readonly Build[] = [
  { name: 'this build', program: CLI },
  ...(beside === null ? [] : [{ name: 'the other build', program: beside }]),
]

/** Runs a command of a build; returns its output. */
function command(build: Build, dir: string, ...words: string[]): string {
  const args = [build.program, ...words, '--dir', dir]
  const env = hostEnvironment()
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
  return stdout.trim()
}

/** Makes an empty registry by the build's own program; returns a token of each of its users. */
export function registryOf(build: Build, dir: string, users: number): string[] {
  command(build, dir, 'init')
  return Array.from({ length: users }, (_, at) => {
    command(build, dir, 'user', 'add', `user${at}`)
    return command(build, dir, 'token', 'create', '--user', `user${at}`)
  })
}

/** Starts the daemon of a build; a base URL that stays has no page rendered anew. */
export function daemonOf(build: Build, dir: string, env: NodeJS.ProcessEnv = {}): Promise<Program> {
  const args = [build.program, 'serve', '--dir', dir, '--listen', '127.0.0.1:0']
  const base = { PLIMSOLL_REGISTRY_BASE_URL: 'http://crates.example' }
  return Program.start(process.execPath, args, { env: { ...UNLIMITED, ...base, ...env } })
}

/** Keeps a registry from rendering pages while `work` goes on. */
export async function withoutPages<T>(dir: string, work: () => Promise<T>): Promise<T> {
  const mutex = new FileLocks(join(dir, 'locks')).mutex('pages')
  try {
    return await mutex.run(work)
  } finally {
    await mutex.close()
  }
}

/** Figures of one round by their names. */
export type Figures = Readonly<Record<string, number>>

/**
 * Measures all builds in every round, this one first or last; returns the medians, and prints the
 * ratios of each round. `work` returns the figures of each build, in its order.
 */
export async function inRounds(
  rounds: number,
  units: Readonly<Record<string, readonly [unit: string, goal?: Goal]>>,
  work: (builds: readonly Build[], round: number) => Promise<readonly Figures[]>,
): Promise<Measurement[]> {
  const all = BUILDS.map(() => [] as Figures[])
  for (let round = 0; round < rounds; round++) {
    const isTurned = round % 2 === 1
    const found = await work(isTurned ? BUILDS.toReversed() : BUILDS, round)
    const ordered = isTurned ? found.toReversed() : found
    for (const [at, figures] of ordered.entries()) all[at]?.push(figures)
  }
  return Object.entries(units).map(([what, [unit, goal]]) => {
    const [own = [], other] = all.map(runs => runs.map(run => run[what] ?? Number.NaN))
    if (!other) return measured(what, quantile(own, 0.5), unit)
    const ratios = own.map((value, at) => value / (other[at] ?? Number.NaN))
    const list = ratios.map(ratio => ratio.toFixed(2)).join(' ')
    console.log(`${what}: ${quantile(ratios, 0.5).toFixed(3)} × (${list})`)
    const yardstick = { name: 'the other build', value: quantile(other, 0.5) }
    return measured(what, quantile(own, 0.5), unit, goal, yardstick)
  })
}
