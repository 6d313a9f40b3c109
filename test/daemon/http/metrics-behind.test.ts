import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { one } from '../../../generator/database/statement.ts'
import { writeFailure } from '../../../generator/records/pages/plain-pages.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { serve } from '../../support/plimsoll.ts'
import { plimsollHere } from '../../support/program.ts'
import { until } from '../../support/until.ts'
import { addCrate, folderOf, reopen } from '../../support/workplace.ts'

test('a crate that a daemon cannot render shows in /metrics and in status', async t => {
  const dir = join(folderOf(t), 'registry')
  await plimsollHere(['init', '--dir', dir])
  await addCrate(await reopen(t, dir), { name: 'lost', version: '1.0.0' })
  rmSync(join(dir, 'crates'), { recursive: true })
  const daemon = await serve(new Cleanup(t), dir)
  const metrics = await (await fetch(`${daemon.url}/metrics`)).text()
  const failures = /^plimsoll_background_failures_total\{what="build"\} (\d+)$/m.exec(metrics)?.[1]
  assert.ok(Number(failures) > 0, metrics)
  assert.match(metrics, /^plimsoll_background_failures_total\{what="git index"\} 0$/m)
  const status = await plimsollHere(['status', '--dir', dir])
  assert.match(status.stdout, /^error {5}\S+ build: the \.crate of `lost` 1\.0\.0 is missing/m)
})

test('a page that cannot be written shows in /metrics and in status, with its next try', async t => {
  const dir = join(folderOf(t), 'registry')
  await plimsollHere(['init', '--dir', dir])
  // A folder where the file is to be.
  mkdirSync(join(dir, 'public/crates/stuck/crate.json'), { recursive: true })
  const registry = await reopen(t, dir)
  await addCrate(registry, { name: 'stuck', version: '1.0.0' })
  await addCrate(registry, { name: 'plain', version: '1.0.0' })
  const sql = 'SELECT max(id) AS id FROM releases'
  const { id: releaseId } = await one<{ id: number }>(registry.database, sql)
  const failure = { because: 'it takes too long', detail: null }
  await writeFailure(registry.database, releaseId, '0', failure)
  const daemon = await serve(new Cleanup(t), dir)
  const metrics = async () => (await fetch(`${daemon.url}/metrics`)).text()
  await until(
    async () => /^plimsoll_failed_work\{kind="page"\} 1$/m.test(await metrics()),
    () => 'the page is not counted',
  )
  assert.match(await metrics(), /^plimsoll_failed_work\{kind="index"\} 0$/m)
  for (const labels of [
    'kind="page",crate="stuck",version=""',
    'kind="readme",crate="plain",version="1.0.0"',
  ])
    await until(
      async () => (await metrics()).includes(`plimsoll_unrendered{${labels}} 1`),
      () => `${labels} is not named`,
    )
  const status = await plimsollHere(['status', '--dir', dir])
  assert.match(status.stdout, /^failed {4}page of stuck: E\w+.*\(1 attempt, next \d{4}-\S+Z\)$/m)
  const { stdout } = await plimsollHere(['status', '--json', '--dir', dir])
  const [{ retryAt, error, ...failed }, ...others] = JSON.parse(stdout).failed_work
  assert.deepEqual(failed, { kind: 'page', crate: 'stuck', version: null, attempts: 1 })
  assert.deepEqual(others, [])
  assert.match(retryAt, /^\d{4}-\S+Z$/)
  assert.match(error, /crate\.json/)
})

test('a push that fails shows in the log, in /metrics and in status, and a start makes up for it', async t => {
  const dir = join(folderOf(t), 'registry')
  const remote = join(folderOf(t), 'mirror.git')
  const env = { PLIMSOLL_GIT_PUSH: remote, PLIMSOLL_GIT_ENGINE: 'git' }
  await plimsollHere(['init', '--dir', dir])
  await addCrate(await reopen(t, dir), { name: 'demo', version: '1.0.0' })
  const first = await serve(new Cleanup(t), dir, env)
  const failures = async () => {
    const metrics = await (await fetch(`${first.url}/metrics`)).text()
    return Number(
      /^plimsoll_background_failures_total\{what="git push"\} (\d+)$/m.exec(metrics)?.[1],
    )
  }
  await until(
    async () => (await failures()) > 0,
    () => 'the failure is not counted',
  )
  assert.match(first.log(), /a push of the git index failed; trying again/)
  const status = await plimsollHere(['status', '--dir', dir])
  assert.match(
    status.stdout,
    /^error {5}\S+ git push: the git index was not pushed to `.*mirror\.git`/m,
  )
  first.stop()
  const isServed = async () =>
    /^daemon {4}process/m.test((await plimsollHere(['status', '--dir', dir])).stdout)
  await until(
    async () => !(await isServed()),
    () => 'the daemon does not end',
  )
  execFileSync('git', ['init', '-q', '--bare', '-b', 'master', remote])
  await serve(new Cleanup(t), dir, env)
  const log = () =>
    execFileSync('git', ['--git-dir', remote, 'log', '--all', '--format=%s'], { encoding: 'utf8' })
  await until(
    () => log() !== '',
    () => 'nothing was pushed, because nothing was committed since',
  )
})

test('a command that works without a daemon says when its push fails', async t => {
  const dir = join(folderOf(t), 'registry')
  await plimsollHere(['init', '--dir', dir])
  await addCrate(await reopen(t, dir), { name: 'demo', version: '1.0.0' })
  const env = { PLIMSOLL_GIT_PUSH: join(folderOf(t), 'gone.git') }
  const yank = await plimsollHere(['yank', 'demo@1.0.0', '--dir', dir], env)
  assert.equal(yank.code, 0, yank.stderr)
  assert.match(yank.stderr, /^warning: the git index was not pushed to `.*gone\.git`/m)
})

test('a command does not wait for a remote that does not answer, and says who will push', async t => {
  const dir = join(folderOf(t), 'registry')
  await plimsollHere(['init', '--dir', dir])
  await addCrate(await reopen(t, dir), { name: 'demo', version: '1.0.0' })
  const silent = createServer(socket => socket.on('error', () => {})).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => silent.close())
  const { port } = silent.address() as AddressInfo
  const env = { PLIMSOLL_GIT_PUSH: `http://ci:sesame@127.0.0.1:${port}/index.git` }
  const yank = await plimsollHere(['yank', 'demo@1.0.0', '--dir', dir], env)
  assert.equal(yank.code, 0, yank.stderr)
  assert.match(
    yank.stderr,
    /^warning: the git index was not pushed to `http:\/\/…@127.* the push is left to the daemon/m,
  )
  assert.doesNotMatch(yank.stderr, /sesame/)
})
