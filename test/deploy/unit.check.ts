// `npm run check:deploy`: the daemon under the system calls, the umask and the capabilities that
// deploy/systemd/ gives it, without systemd.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../support/cleanup.ts'
import { watch } from '../support/command.ts'
import { hostEnvironment, root } from '../support/plimsoll.ts'
import { publishTo } from '../support/release.ts'
import { scratch } from '../support/scratch.ts'
import { filtered, withoutFilters } from '../support/system-calls.ts'
import { until } from '../support/until.ts'

/** Root without capabilities is like the user of the unit. */
const asOthers = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-all'] : []

test('the daemon publishes under the unit, and archives are read at low priority', {
  skip: withoutFilters,
}, async t => {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const unit = readFileSync(join(root, 'deploy', 'systemd', 'plimsoll.service'), 'utf8')
  const filter = filtered(unit, join(folder, 'filter'))
  const [, umask = ''] = /^UMask=(\d+)$/m.exec(unit) ?? []
  const serve = [process.execPath, join(root, 'dist', 'program', 'cli.js'), 'serve', '--init']
  const settings = { PLIMSOLL_DIR: join(folder, 'registry'), PLIMSOLL_LISTEN: '127.0.0.1:0' }
  const daemon = spawn(
    'sh',
    ['-c', `umask ${umask}; exec "$@"`, 'sh', ...asOthers, ...filter, ...serve],
    { env: { ...hostEnvironment(), NODE_ENV: 'production', ...settings }, stdio: 'pipe' },
  )
  const { said, ended } = watch(daemon)
  cleanup.add(async () => {
    daemon.kill('SIGTERM')
    assert.equal(await ended, 0, said())
  })
  const listening = /^listening on (\S+)$/m
  await until(() => listening.test(said()) || daemon.exitCode !== null, said)
  const url = listening.exec(said())?.[1]
  const token = /plim_\w+/.exec(said())?.[0] ?? ''
  const put = await publishTo(url, token, { name: 'demo', version: '1.0.0' })
  assert.equal(put.status, 200, `${await put.text()}\n${said()}`)
  const nicenesses = nicenessesOf(daemon.pid)
  assert.ok(nicenesses.includes(Math.max(10, getPriority())), nicenesses.join())
})

/** The niceness of each thread of a process. */
function nicenessesOf(pid: number | undefined): number[] {
  const tasks = `/proc/${pid}/task`
  return readdirSync(tasks).map(id => {
    // After the name of the program, which is in parentheses: proc_pid_stat(5).
    const fields = readFileSync(`${tasks}/${id}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return Number(fields[16])
  })
}
