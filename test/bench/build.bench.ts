/**
 * A build of the whole sparse index by the real program, next to `cp -r` of the result: 1,000
 * crates, or `PLIMSOLL_BENCH_CRATES`; both grow in proportion.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqlite } from '../../generator/places/disk/sqlite-file.ts'
import { DATABASE_FILE } from '../../generator/registry/folder.ts'
import { quantile } from '../support/measure.ts'
import { hostEnvironment } from '../support/plimsoll.ts'
import { filledRegistry } from './support/filled-registry.ts'
import { memoryOf, spent, usageOf } from './support/program.ts'
import { CLI } from './support/registry.ts'
import { bench } from './support/servers.ts'
import { measured } from './support/table.ts'

const CRATES = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 1_000)

await bench(async ({ folder }) => {
  const home = join(folder, 'registry')
  cpSync((await filledRegistry(CRATES)).dir, home, { recursive: true })
  markIndex(join(home, DATABASE_FILE))
  // Earlier writes must not reach the disk during the measurement.
  execFileSync('sync')
  const { wall, processor, peak } = await built(home)
  const index = join(home, 'public', 'index')
  const files = Number(
    execFileSync('sh', ['-c', `find ${index} -type f | wc -l`], { encoding: 'utf8' }),
  )
  if (files < CRATES) throw new Error(`only ${files} index files`)
  const copies = ['first', 'second', 'third'].map(name => {
    execFileSync('sync')
    const begin = performance.now()
    execFileSync('cp', ['-r', index, join(folder, name)])
    return (performance.now() - begin) / 1000
  })
  const what = `sparse index of ${CRATES.toLocaleString('en-US')} crates`
  const copied = { name: 'cp -r', value: quantile(copies, 0.5) }
  return [
    measured(what, wall, 's', { atMost: 1.5 }, copied),
    measured(`${what}: processor time`, processor, 's'),
    measured(`${what}: most resident memory`, peak, 'MiB', { atMost: 600 }),
  ]
})

/** Marks every index file for rendering, and nothing else: the invented crates have no bytes. */
function markIndex(path: string): void {
  const database = openSqlite(path)
  database.exec(
    `INSERT INTO marks (kind, subject, generation) SELECT 'index', id, generation FROM crates`,
  )
  database.close()
}

/** Builds by the real program: seconds, seconds of processor time, and peak memory in MiB. */
async function built(home: string): Promise<Record<'wall' | 'processor' | 'peak', number>> {
  const begin = performance.now()
  const child = spawn(process.execPath, [CLI, 'build', '--dir', home], {
    env: { ...hostEnvironment(), PLIMSOLL_GIT_INDEX: 'off' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let wall = 0
  child.once('exit', () => {
    wall = (performance.now() - begin) / 1000
  })
  const exited = once(child, 'exit')
  const none = { own: 0, ended: 0 }
  let usage = none
  let peak = 0
  while (wall === 0) {
    peak = Math.max(peak, memoryOf(child.pid ?? 0, 'peak'))
    const now = usageOf(child.pid ?? 0)
    if (now.own > 0) usage = now
    await Promise.race([sleep(100), exited])
  }
  if (child.exitCode !== 0) throw new Error(`The build has failed with ${child.exitCode}.`)
  return { wall, processor: spent(none, usage) / 1000, peak }
}
