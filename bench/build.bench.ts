/**
 * A build of the whole sparse index by the real program, next to `cp -r` of the result: 1,000
 * crates, or `PLIMSOLL_BENCH_CRATES`; both grow in proportion.
 */
import { execFileSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import Libsql from 'libsql'
import { DATABASE_FILE } from '../generator/registry/folder.ts'
import { quantile } from '../test/support/measure.ts'
import { runToEnd } from './support/command.ts'
import { filledRegistry } from './support/filled-registry.ts'
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
  const { wall, processor, peak } = await runToEnd([CLI, 'build', '--dir', home], {
    PLIMSOLL_GIT_INDEX: 'off',
  })
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
  const database = new Libsql(path)
  database.exec(
    `INSERT INTO marks (kind, subject, generation) SELECT 'index', id, generation FROM crates`,
  )
  database.close()
}
