import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { one } from '../../../generator/database/statement.ts'
import { writeFailure } from '../../../generator/records/pages/plain-pages.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { type Daemon, serve } from '../../support/plimsoll.ts'
import { plimsollHere } from '../../support/program.ts'
import { until } from '../../support/until.ts'
import { serveWeb } from '../../support/web-server.ts'
import { addCrate, folderOf, reopen } from '../../support/workplace.ts'

/** A new registry with these crates, in which nothing is rendered. */
async function filled(t: TestContext, ...names: string[]) {
  const dir = join(folderOf(t), 'registry')
  await plimsollHere(['init', '--dir', dir])
  const registry = await reopen(t, dir)
  for (const name of names) await addCrate(registry, { name, version: '1.0.0' })
  const status = async () => (await plimsollHere(['status', '--dir', dir])).stdout
  return { dir, registry, status }
}

const metricsOf = async ({ url }: Daemon) => (await fetch(`${url}/metrics`)).text()

test('a crate that a daemon cannot render shows in /metrics and in status', async t => {
  const { dir, status } = await filled(t, 'lost')
  rmSync(join(dir, 'crates'), { recursive: true })
  const daemon = await serve(new Cleanup(t), dir)
  const metrics = await metricsOf(daemon)
  const failures = /^plimsoll_background_failures_total\{what="build"\} (\d+)$/m.exec(metrics)?.[1]
  assert.ok(Number(failures) > 0, metrics)
  assert.match(metrics, /^plimsoll_background_failures_total\{what="git index"\} 0$/m)
  assert.match(
    await status(),
    /^error {5}\S+ build, not mended: the \.crate of `lost` 1\.0\.0 is missing/m,
  )
})

test('a page that cannot be written shows in /metrics and in status, with its next try', async t => {
  const { dir, registry, status } = await filled(t, 'stuck', 'plain')
  // A folder where the file is to be.
  mkdirSync(join(dir, 'public/crates/stuck/crate.json'), { recursive: true })
  const sql = 'SELECT max(id) AS id FROM releases'
  const { id: releaseId } = await one<{ id: number }>(registry.database, sql)
  const failure = { because: 'it takes too long', detail: null }
  await writeFailure(registry.database, releaseId, '0', failure)
  const daemon = await serve(new Cleanup(t), dir)
  for (const line of [
    'plimsoll_failed_work{kind="page"} 1',
    'plimsoll_failed_work{kind="index"} 0',
    'plimsoll_unrendered{kind="page",crate="stuck",version=""} 1',
    'plimsoll_unrendered{kind="readme",crate="plain",version="1.0.0"} 1',
  ])
    await until(
      async () => (await metricsOf(daemon)).split('\n').includes(line),
      () => `there is no ${line}`,
    )
  assert.match(await status(), /^failed {4}page of stuck: E\w+.*\(1 attempt, next \d{4}-\S+Z\)$/m)
  const { stdout } = await plimsollHere(['status', '--json', '--dir', dir])
  const [{ retryAt, error, ...failed }, ...others] = JSON.parse(stdout).failed_work
  assert.deepEqual(failed, { kind: 'page', crate: 'stuck', version: null, attempts: 1 })
  assert.deepEqual(others, [])
  assert.match(retryAt, /^\d{4}-\S+Z$/)
  assert.match(error, /crate\.json/)
})

test('a push that fails shows in the log, in /metrics and in status, and a start makes up for it', async t => {
  const { dir, status } = await filled(t, 'demo')
  const remote = join(folderOf(t), 'mirror.git')
  const env = { PLIMSOLL_GIT_PUSH: remote, PLIMSOLL_GIT_ENGINE: 'git' }
  const first = await serve(new Cleanup(t), dir, env)
  const counted = /^plimsoll_background_failures_total\{what="git push"\} [1-9]/m
  await until(async () => counted.test(await metricsOf(first)), 'the failure is not counted')
  assert.match(first.log(), /a push of the git index failed; trying again/)
  const line =
    /^error {5}\S+ git push, not mended: the git index was not pushed to `.*mirror\.git`/m
  assert.match(await status(), line)
  first.stop()
  await until(async () => !/^daemon {4}process/m.test(await status()), 'the daemon does not end')
  execFileSync('git', ['init', '-q', '--bare', '-b', 'master', remote])
  await serve(new Cleanup(t), dir, env)
  const log = () =>
    execFileSync('git', ['--git-dir', remote, 'log', '--all', '--format=%s'], { encoding: 'utf8' })
  await until(() => log() !== '', 'nothing was pushed, because nothing was committed since')
})

test('a command does not wait for a remote that does not answer, and says who will push', async t => {
  const { dir } = await filled(t, 'demo')
  const silent = await serveWeb(t, () => undefined)
  const env = { PLIMSOLL_GIT_PUSH: `${silent.replace('://', '://ci:sesame@')}/index.git` }
  const yank = await plimsollHere(['yank', 'demo@1.0.0', '--dir', dir], env)
  assert.equal(yank.code, 0, yank.stderr)
  assert.match(
    yank.stderr,
    /^warning: the git index was not pushed to `http:\/\/…@127.* the push is left to the daemon/m,
  )
  assert.doesNotMatch(yank.stderr, /sesame/)
})
