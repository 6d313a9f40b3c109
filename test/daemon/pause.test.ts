// Mirrors generator/records/pause.ts: what a pause refuses, and what goes on
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { beginPause, endPause } from '../../generator/records/pause.ts'
import { Cargo } from '../support/cargo.ts'
import { Cleanup } from '../support/cleanup.ts'
import { buildCrate } from '../support/crate-builder.ts'
import { plimsollHere, serveHere } from '../support/program.ts'
import { writeProject } from '../support/project.ts'
import { TestRegistry } from '../support/registry.ts'
import { publishRequest } from '../support/release.ts'
import { allRecords } from '../support/rows.ts'
import { scratch } from '../support/scratch.ts'
import { refuses, servedFolder } from '../support/served-folder.ts'
import { until } from '../support/until.ts'
import { loggedIn, PASSWORD, Visitor, withPassword } from '../support/visitor.ts'

const SENTENCE =
  /^the registry is paused and takes no changes until 20\d\d-\S+Z at the latest; nothing was changed, try again then \(operators end a pause with `plimsoll resume`\)$/

/** All records but what daemons note for themselves. */
const recordsOf = ({ registry }: TestRegistry) =>
  allRecords(registry.database, table => (table === 'facts' ? 'false' : 'true'))

/** A registry with `demo` 1.0.0 of alice, with bob, and with everything rendered. */
async function busyRegistry(t: TestContext) {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice', {}, true)
  await test.user('bob')
  await withPassword(test, 'alice')
  assert.equal((await test.publish(token, { name: 'demo', version: '1.0.0' })).status, 200)
  await test.everything()
  const pause = (seconds: number) =>
    test.registry.database.transaction(tx => beginPause(tx, seconds))
  return { test, token, pause }
}

test('in a pause, every route that changes something answers 503 and changes nothing', async t => {
  const { test, token, pause } = await busyRegistry(t)
  const browser = await loggedIn(test, 'alice')
  await loggedIn(test, 'alice')
  const stranger = new Visitor(test)
  const owners = (login: string) => ({ body: JSON.stringify({ users: [login] }) })
  await test.user('carol')
  await test.request('PUT', '/api/v1/crates/demo/owners', token, owners('bob'))
  const publish = { body: publishRequest({ name: 'demo', version: '1.1.0' }) }
  const before = await recordsOf(test)
  await pause(600)
  const api: readonly [string, string, RequestInit][] = [
    ['PUT', '/api/v1/crates/new', publish],
    ['DELETE', '/api/v1/crates/demo/1.0.0/yank', {}],
    ['PUT', '/api/v1/crates/demo/owners', owners('carol')],
    ['DELETE', '/api/v1/crates/demo/owners', owners('bob')],
  ]
  const refused = [
    ...api.map(([method, path, init]) => test.request(method, path, token, init)),
    stranger.post('/me/login', { login: 'alice', password: PASSWORD }),
    browser.post('/me/tokens', { name: 'more', access: 'full', expires: '90d' }),
    browser.post('/me/sessions/end'),
    browser.post('/me/crates/demo/yank', { version: '1.0.0' }),
    browser.post('/me/crates/demo/owners/add', { login: 'carol' }),
    browser.post('/me/admin/users/add', { login: 'dave' }),
    browser.post('/me/logout'),
  ]
  for (const [at, asked] of refused.entries()) {
    const answer = await asked
    assert.equal(answer.status, 503, `request ${at}: ${answer.status}`)
    const seconds = Number(answer.headers.get('retry-after'))
    assert.ok(seconds > 500 && seconds <= 600, `request ${at}: ${seconds}`)
    if (at >= api.length) assert.match(await answer.text(), /the registry is paused/i)
    else {
      const { errors } = (await answer.json()) as { errors: { detail: string }[] }
      assert.match(errors[0]?.detail ?? '', SENTENCE)
    }
  }
  assert.deepEqual(await recordsOf(test), before)
  assert.equal((await test.request('GET', '/index/de/mo/demo')).status, 200)
  assert.equal((await test.request('GET', '/readyz')).status, 200)
  await endPause(test.registry.database)
  assert.equal((await test.publish(token, { name: 'demo', version: '1.1.0' })).status, 200)
})

test('a pause ends by itself, and what was to be rendered in it is rendered then', async t => {
  const { test, token, pause } = await busyRegistry(t)
  assert.equal((await test.publish(token, { name: 'late', version: '1.0.0' })).status, 200)
  await pause(1)
  await test.indexWorker.pages.flush()
  assert.equal(await test.shown('crates/late/index.html'), null)
  await until(
    async () => (await test.publish(token, { name: 'demo', version: '2.0.0' })).status === 200,
    'the pause does not end',
  )
  await test.indexWorker.pages.flush()
  assert.match((await test.shown('crates/late/index.html')) ?? '', /late/)
})

test('cargo and commands say that the registry is paused, until it is resumed', async t => {
  const served = await servedFolder(t)
  const { ok, run, url } = served
  await ok('user', 'add', 'alice')
  const token = await ok('token', 'create', '--user', 'alice')
  const folder = scratch(new Cleanup(t))
  const cargo = new Cargo(join(folder, 'home'), {
    registries: { plimsoll: `sparse+${url}/index/` },
    cratesIo: 'sparse+http://127.0.0.1:9/',
    tokens: { plimsoll: token },
  })
  const project = writeProject(join(folder, 'demo'), { name: 'demo' })
  const publish = ['publish', '--no-verify', '--allow-dirty', '--registry', 'plimsoll']
  const crate = join(folder, 'other-1.0.0.crate')
  writeFileSync(crate, buildCrate({ name: 'other', version: '1.0.0' }))
  assert.match(await ok('pause'), /^the registry is paused until .*; `plimsoll resume` ends it$/)
  const printed = await cargo.run(project.folder, ...publish)
  assert.equal(printed.code, 101)
  assert.match(
    printed.stderr,
    /the registry is paused and takes no changes until \S+ at the latest/,
  )
  const said = /^error: the registry is paused and takes no changes/
  await refuses(served, [
    [['add', crate], 1, said],
    [['user', 'add', 'bob'], 1, said],
    [['token', 'create', '--user', 'alice'], 1, said],
    [['build', '--all'], 1, said],
  ])
  const status = JSON.parse(await ok('status', '--json'))
  assert.match(status.paused_until, /^20\d\d-/)
  assert.equal(status.moving_to, null)
  assert.match(await ok('status'), /^warning {3}paused until 20.*; `plimsoll resume` ends it$/m)
  assert.equal(await ok('resume'), 'the registry takes changes again')
  assert.equal(await ok('resume'), 'the registry was not paused')
  await cargo.ok(project.folder, ...publish)
  const wrong = await run(['pause', '--for', 'soon'])
  assert.equal(wrong.code, 2, wrong.stderr)
})

test('a daemon starts in a pause, and renders what is missing after it', async t => {
  const cleanup = new Cleanup(t)
  const dir = join(scratch(cleanup), 'registry')
  for (const args of [['init'], ['pause']])
    assert.equal((await plimsollHere([...args, '--dir', dir])).code, 0)
  const daemon = await serveHere(cleanup, dir)
  assert.equal((await fetch(`${daemon.url}/healthz`)).status, 200)
  assert.equal((await plimsollHere(['resume', '--dir', dir])).code, 0)
  await until(
    async () => (await fetch(`${daemon.url}/`)).status === 200,
    () => `the front page is not rendered: ${daemon.log()}`,
  )
  // On Node 20 there is the warning about that.
  assert.doesNotMatch(daemon.log(), /"level":(?:40|50)(?!.*(?:install Node 24|paused until))/)
  assert.match(daemon.log(), /"msg":"paused until \S+; `plimsoll resume` ends it"/)
})
