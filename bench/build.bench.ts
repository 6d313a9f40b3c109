/**
 * A build of the whole sparse index by the real program, next to `cp -r` of the result: 1,000
 * crates, or `PLIMSOLL_BENCH_CRATES`; both grow in proportion.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Libsql from 'libsql'
import { DATABASE_FILE } from '../generator/registry.ts'
import { filledRegistry } from './support/filled-registry.ts'
import { quantile } from './support/measure.ts'
import { memoryOf, ownEnvironment, spent, usageOf } from './support/program.ts'
import { CLI } from './support/registry.ts'
import { printTable } from './support/table.ts'

const CRATES = Number(process.env.PLIMSOLL_BENCH_CRATES ?? 1_000)

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
try {
  const home = join(folder, 'registry')
  cpSync((await filledRegistry(CRATES)).dir, home, { recursive: true })
  markIndex(join(home, DATABASE_FILE))
  const { wall, processor, peak } = await build(home)
  const index = join(home, 'public', 'index')
  const files = Number(
    execFileSync('sh', ['-c', `find ${index} -type f | wc -l`], { encoding: 'utf8' }),
  )
  if (files < CRATES) throw new Error(`only ${files} index files`)
  const copies = ['first', 'second', 'third'].map(name => {
    const begin = performance.now()
    execFileSync('cp', ['-r', index, join(folder, name)])
    return (performance.now() - begin) / 1000
  })
  const copied = quantile(copies, 0.5)
  const what = `sparse index of ${CRATES.toLocaleString('en-US')} crates`
  printTable([
    {
      what,
      value: wall,
      unit: 's',
      yardstick: { name: 'cp -r', value: copied },
      goal: { atMost: 1.5 },
    },
    { what: `${what}: processor time`, value: processor, unit: 's' },
    { what: `${what}: most resident memory`, value: peak, unit: 'MiB', goal: { atMost: 600 } },
  ])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Every index file is to be rendered, and nothing else: the invented crates have no bytes. */
function markIndex(path: string): void {
  const database = new Libsql(path)
  database.exec(
    `INSERT INTO marks (kind, subject, generation) SELECT 'index', id, generation FROM crates`,
  )
  database.close()
}

/** Seconds and MiB of `plimsoll build`. */
async function build(dir: string): Promise<{ wall: number; processor: number; peak: number }> {
  const begin = performance.now()
  const child = spawn(process.execPath, [CLI, 'build', '--dir', dir], {
    env: ownEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const pid = child.pid ?? 0
  let output = ''
  child.stderr.on('data', chunk => {
    output = (output + String(chunk)).slice(-2000)
  })
  const none = { own: 0, ended: 0 }
  let [wall, code, peak, usage]: [number | null, number | null, number, typeof none] = [
    null,
    null,
    0,
    none,
  ]
  child.once('exit', status => {
    wall = (performance.now() - begin) / 1000
    code = status
  })
  const exited = once(child, 'exit')
  while (wall === null) {
    peak = Math.max(peak, memoryOf(pid, 'peak'))
    const now = usageOf(pid)
    if (now.own > 0) usage = now
    await Promise.race([sleep(100), exited])
  }
  if (code !== 0) throw new Error(`the build has failed with ${code}:\n${output}`)
  return { wall, processor: spent(none, usage) / 1000, peak }
}
