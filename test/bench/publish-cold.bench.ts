/**
 * What publishes cost a daemon that has just started: 400 new crates from 8 clients, processor time
 * of all threads and children until all is quiet and the lists are rendered; the same at publishes
 * 1,200 to 1,600, with a token for each client, and without pages and git index. With
 * `PLIMSOLL_BENCH_BESIDE`, the `cli.js` of another build, both get the same crates, some at a time.
 * `PLIMSOLL_BENCH_ONLY` names some of the parts, `PLIMSOLL_BENCH_ROUNDS` another number of rounds.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Build,
  daemonOf,
  type Figures,
  inRounds,
  registryOf,
  withoutPages,
} from './support/builds.ts'
import { type Program, spent, type Usage } from './support/program.ts'
import { publishAll, publishBody } from './support/publishing.ts'
import { bench } from './support/servers.ts'
import type { Measurement } from './support/table.ts'

const PUBLISHES = 400
const CLIENTS = 8
/** Publishes that a build gets before it is the other's turn. */
const TURN = 40
const SIZE = 10_000
const ROUNDS = Number(process.env.PLIMSOLL_BENCH_ROUNDS ?? 5)
/** Lists wait so long for more changes, in milliseconds. */
const LISTS_MS = 10_500

/** A daemon of a build, its folder, and tokens of its users. */
interface Served {
  readonly dir: string
  readonly program: Program
  readonly tokens: readonly string[]
}

const bodies = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => publishBody(`cold-${from + at}`, '1.0.0', SIZE))
const cold = bodies(0, PUBLISHES)
const noGit = { PLIMSOLL_GIT_INDEX: 'off' }

await bench(async servers => {
  let runs = 0
  /** Starts a daemon of each build. */
  const serve = async (builds: readonly Build[], users: number, env: NodeJS.ProcessEnv = {}) => {
    const served: Served[] = []
    for (const build of builds) {
      // No folder is removed before the end: ext4 makes new files more slowly then.
      const dir = join(servers.folder, `registry-${runs++}`)
      const tokens = registryOf(build, dir, users)
      const program = await servers.stopping(daemonOf(build, dir, env))
      served.push({ dir, tokens, program })
    }
    for (const { program } of served) await program.quiet()
    return served
  }
  const stop = async (served: readonly Served[]) => {
    for (const { program } of served) await program.stop()
  }
  const parts: Readonly<Record<string, () => Promise<Measurement[]>>> = {
    cold: () =>
      inRounds(ROUNDS, { cold: ['ms'], 'cold, rate': ['per second'] }, async builds => {
        const served = await serve(builds, 1)
        const found = await untilQuiet(served, cold)
        await stop(served)
        return found.map(({ processor, rate }) => ({ cold: processor, 'cold, rate': rate }))
      }),
    tokens: () => {
      const units = { 'a token each': ['ms'], 'a token each, rate': ['per second'] } as const
      return inRounds(ROUNDS, units, async builds => {
        const served = await serve(builds, CLIENTS)
        const found = await untilQuiet(served, cold)
        await stop(served)
        return found.map(({ processor, rate }) => {
          return { 'a token each': processor, 'a token each, rate': rate }
        })
      })
    },
    later: () =>
      inRounds(ROUNDS, { 'publishes 1,200 to 1,600': ['ms'] }, async builds => {
        const served = await serve(builds, 1)
        await publishInTurns(served, bodies(0, 1200))
        await quiet(served)
        const found = await untilQuiet(served, bodies(1200, 1600))
        await stop(served)
        return found.map(({ processor }) => ({ 'publishes 1,200 to 1,600': processor }))
      }),
    answer: () => {
      const units = { 'answer alone': ['ms'], 'answer alone, rate': ['per second'] } as const
      return inRounds(ROUNDS, units, async builds => {
        const served = await serve(builds, 1, noGit)
        const measure = async (): Promise<Figures[]> => {
          const before = served.map(({ program }) => program.usage())
          const seconds = await publishInTurns(served, cold)
          await sleep(1500)
          const found = served.map(({ program }, at) => ({
            'answer alone': perPublish(before[at], program.usage()),
            'answer alone, rate': PUBLISHES / (seconds[at] ?? 0),
          }))
          // Stopped in order, they would wait for their pages.
          for (const { program } of served) await program.stop('SIGKILL')
          return found
        }
        const held = served.reduce(
          (work, { dir }) =>
            () =>
              withoutPages(dir, work),
          measure,
        )
        return held()
      })
    },
    files: () =>
      inRounds(1, { 'files of a new version': ['files'] }, async builds => {
        const served = await serve(builds, 1, noGit)
        const publishVersion = (version: string) =>
          untilQuiet(served, [publishBody('cold', version, SIZE)])
        await publishVersion('1.0.0')
        const before = served.map(({ dir }) => filesOf(dir))
        await publishVersion('1.0.1')
        const found = served.map(({ dir }, at) => {
          const written = [...filesOf(dir)].filter(
            ([path, state]) => before[at]?.get(path) !== state,
          )
          console.log(
            `${written
              .map(([path]) => path)
              .sort()
              .join('\n')}\n`,
          )
          return { 'files of a new version': written.length }
        })
        await stop(served)
        return found
      }),
  }
  const only = process.env.PLIMSOLL_BENCH_ONLY?.split(',') ?? Object.keys(parts)
  const rows: Measurement[] = []
  for (const name of only) rows.push(...((await parts[name]?.()) ?? []))
  return rows
})

/** Publishes all to each daemon, some at a time; returns the seconds that each took. */
async function publishInTurns(
  served: readonly Served[],
  all: readonly Uint8Array[],
): Promise<number[]> {
  const seconds = served.map(() => 0)
  for (let from = 0; from < all.length; from += TURN) {
    const some = all.slice(from, from + TURN)
    for (const [at, { program, tokens }] of served.entries()) {
      const begin = performance.now()
      const clients = CLIENTS / tokens.length
      const shares = tokens.map((token, number) => {
        const own = some.filter((_, body) => body % tokens.length === number)
        return publishAll({ port: program.port, token }, own, clients)
      })
      await Promise.all(shares)
      seconds[at] = (seconds[at] ?? 0) + (performance.now() - begin) / 1000
    }
  }
  return seconds
}

/** Publishes all; returns the milliseconds of each daemon for one until all is quiet. */
async function untilQuiet(served: readonly Served[], all: readonly Uint8Array[]) {
  const before = served.map(({ program }) => program.usage())
  const seconds = await publishInTurns(served, all)
  await quiet(served)
  return served.map(({ program }, at) => ({
    processor: perPublish(before[at], program.usage(), all.length),
    rate: all.length / (seconds[at] ?? 0),
  }))
}

/** Waits until no work is marked, lists included, and nothing uses the processor. */
async function quiet(served: readonly Served[]): Promise<void> {
  await sleep(LISTS_MS)
  for (const { program } of served) {
    while (await isPending(program.port)) await sleep(500)
    await program.quiet()
  }
}

async function isPending(port: number): Promise<boolean> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return /^plimsoll_pending\{.*\} [1-9]/m.test(text)
}

function perPublish(before: Usage | undefined, after: Usage, publishes = PUBLISHES): number {
  return before ? spent(before, after) / publishes : Number.NaN
}

/** The files of crate store and public tree, and what tells whether they were written. */
function filesOf(dir: string): Map<string, string> {
  const paths = ['crates', 'public'].flatMap(folder =>
    readdirSync(join(dir, folder), { recursive: true }).map(path => join(folder, String(path))),
  )
  return new Map(
    paths.flatMap(path => {
      const stats = statSync(join(dir, path))
      return stats.isFile() ? [[path, `${stats.ino} ${stats.ctimeMs}`] as const] : []
    }),
  )
}
