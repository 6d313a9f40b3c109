/**
 * `build --from`, the static way, by the real program: a folder of 2,000 crates, or of
 * `PLIMSOLL_BENCH_CRATES`, from nothing; then with a cache when nothing, one crate, or the machine
 * has changed. The yardstick is the build from nothing in the same run.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { filesBelow } from '../support/folder.ts'
import { hostEnvironment } from '../support/plimsoll.ts'
import { BASE, writeCrates } from './support/crate-folder.ts'
import { memoryOf, spent, usageOf } from './support/program.ts'
import { CLI } from './support/registry.ts'
import { bench } from './support/servers.ts'
import { type Goal, measured } from './support/table.ts'

const CRATES = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 2000)
/** The files that may change with a crate, and the time as a share of a whole build. */
const [FILES, SHARE] = CRATES > 2048 ? [110, 0.07] : [90, 0.12]

await bench(async ({ folder }) => {
  const [from, out, more] = [join(folder, 'crates'), join(folder, 'out'), join(folder, 'more')]
  writeCrates(from, 0, CRATES, CRATES + 1)
  writeCrates(more, CRATES, CRATES + 1, CRATES + 1)
  const [name = ''] = readdirSync(more)
  const build = () => built(from, out, join(folder, 'cache'))
  const whole = await build()
  const same = await build()
  cpSync(join(more, name), join(from, name))
  const added = await build()
  const spec = name.replace(/-1\.0\.0\.crate$/, '@1.0.0')
  writeFileSync(join(from, 'plimsoll.toml'), `yanked = ["${spec}"]\n`)
  const yanked = await build()
  rmSync(join(from, 'plimsoll.toml'))
  rmSync(join(from, name))
  const gone = await build()
  // As a checkout and the cache of a CI bring files: with other times.
  for (const path of filesBelow(folder)) utimesSync(join(folder, path), 1e9, 1e9)
  const moved = await build()
  const beside = { name: 'from nothing', value: whole.wall }
  const row = (what: string, { wall }: Built, goal: Goal) => measured(what, wall, 's', goal, beside)
  const perCrate = (seconds: number) => (seconds / CRATES) * 1000
  const share = { atMost: SHARE }
  return [
    measured('from nothing, a crate: wall', perCrate(whole.wall), 'ms', { atMost: 4 }),
    measured('processor', perCrate(whole.processor), 'ms', { atMost: 5.5 }),
    measured('most resident memory', whole.peak, 'MiB', { atMost: 250 }),
    row('nothing changed', same, share),
    row('one crate more', added, share),
    measured('files that it changes', added.changed, 'files', { atMost: FILES }),
    row('one yanked', yanked, share),
    row('one gone', gone, share),
    row('files with other times', moved, { atMost: 2 * SHARE }),
  ]
})

/** Seconds, seconds of processor time, peak memory in MiB, and the number of changed files. */
type Built = Readonly<Record<'wall' | 'processor' | 'peak' | 'changed', number>>

async function built(from: string, out: string, cache: string): Promise<Built> {
  mkdirSync(out, { recursive: true })
  execFileSync('sync')
  const args = [CLI, 'build', '--from', from, '--out', out, '--base-url', BASE, '--cache', cache]
  const begin = performance.now()
  const started = Date.now()
  const child = spawn(process.execPath, args, {
    env: hostEnvironment(),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let wall = 0
  const exited = once(child, 'exit').then(() => {
    wall = (performance.now() - begin) / 1000
  })
  const none = { own: 0, ended: 0 }
  let [usage, peak] = [none, 0]
  while (wall === 0) {
    peak = Math.max(peak, memoryOf(child.pid ?? 0, 'peak'))
    const now = usageOf(child.pid ?? 0)
    if (now.own > 0) usage = now
    await Promise.race([sleep(50), exited])
  }
  if (child.exitCode !== 0) throw new Error(`The build has failed with ${child.exitCode}.`)
  const isNew = (path: string) => statSync(join(out, path)).mtimeMs >= started
  const changed = filesBelow(out).filter(isNew).length
  return { wall, processor: spent(none, usage) / 1000, peak, changed }
}
