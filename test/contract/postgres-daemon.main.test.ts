// Mirrors generator/database/postgres/: a registry whose records are on a server.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openRegistry } from '../../generator/open.ts'
import { registryCounts } from '../../generator/records/crates.ts'
import { initRegistry } from '../../generator/registry/registry.ts'
import { Cleanup } from '../support/cleanup.ts'
import { firstToken, publish, shownVersions } from '../support/cluster.ts'
import { serve } from '../support/plimsoll.ts'
import { postgresSuite } from '../support/postgres-suite.ts'
import { plimsollHere } from '../support/program.ts'
import { TestRegistry } from '../support/registry.ts'
import { until } from '../support/until.ts'
import { folderOf, once } from '../support/workplace.ts'

const { server, skip } = postgresSuite()

async function environment(name: string) {
  const url = await server.create(name)
  // The server asks for no password, and must see none in what is printed.
  return { PLIMSOLL_DATABASE_URL: url.replace('plimsoll@', 'plimsoll:secret@') }
}

test('the daemon publishes; without its server it goes on serving files, and returns by itself', {
  skip,
}, async (t: TestContext) => {
  const env = await environment('daemon')
  const dir = folderOf(t)
  await plimsollHere(['init', '--dir', dir], env)
  const daemon = await serve(new Cleanup(t), dir, env)
  assert.ok(!existsSync(join(dir, 'plimsoll.db')))
  const token = firstToken(daemon)
  const statusOf = async (path: string) => (await fetch(`${daemon.url}${path}`)).status
  assert.equal((await publish(daemon, token, '1.0.0')).status, 200)
  assert.deepEqual(await shownVersions(daemon), ['1.0.0'])
  assert.equal(await statusOf('/readyz'), 200)
  await server.kill()
  assert.deepEqual(await shownVersions(daemon), ['1.0.0'])
  assert.equal(await statusOf('/crates/demo/demo-1.0.0.crate'), 200)
  const refused = await publish(daemon, token, '1.1.0')
  assert.equal(refused.status, 503)
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  assert.equal(await statusOf('/api/v1/crates?q=demo'), 503)
  const metrics = await fetch(`${daemon.url}/metrics`)
  assert.equal(metrics.status, 200)
  const samples = (await metrics.text()).split('\n').filter(line => !line.startsWith('#'))
  assert.ok(samples.includes('plimsoll_failures_total{code="database_away"} 2'))
  assert.equal(
    samples.find(line => line.startsWith('plimsoll_held')),
    undefined,
  )
  await until(async () => (await statusOf('/readyz')) === 503, 'it is ready without its records')
  await server.start()
  await until(async () => (await statusOf('/readyz')) === 200, 'it does not return')
  assert.equal((await publish(daemon, token, '1.1.0')).status, 200)
  assert.deepEqual(await shownVersions(daemon), ['1.0.0', '1.1.0'])
  assert.doesNotMatch(daemon.log(), /secret/)
  await commands(dir, env)
})

/** Every command works beside the daemon, or says what to do instead; none shows the password. */
async function commands(dir: string, env: Record<string, string>): Promise<void> {
  const result = async (...args: string[]) => {
    const { code, stdout, stderr } = await plimsollHere([...args, '--dir', dir], env)
    assert.doesNotMatch(stdout + stderr, /secret/)
    return { code, text: stdout + stderr }
  }
  assert.equal((await result('verify')).code, 0)
  assert.match((await result('status')).text, /^programs .* PostgreSQL \d/m)
  assert.match((await result('settings')).text, /^database\.url = "postgres:\/\/…@/m)
  assert.equal((await result('user', 'add', 'ann')).code, 0)
  const backup = await plimsollHere(['backup', join(dir, 'backup.tar'), '--dir', dir], env)
  assert.equal(backup.code, 0)
  assert.doesNotMatch(backup.stderr, /:secret/)
}

test('the same changes give the same files as with SQLite', { skip }, async t => {
  const files = async (env: Record<string, string>) => {
    const registry = await TestRegistry.open(t, { env })
    const token = await registry.user('alice')
    const readme = { 'src/lib.rs': '', 'README.md': '# Nöte' }
    for (const [name, version] of [
      ['alpha', '1.0.0'],
      ['Beta_x', '0.1.0'],
      ['alpha', '1.1.0-rc.1'],
      ['alpha', '1.0.1'],
    ] as const) {
      const { status, body } = await registry.publish(token, { name, version, files: readme })
      assert.equal(status, 200, JSON.stringify(body))
    }
    await registry.request('DELETE', '/api/v1/crates/alpha/1.0.0/yank', token)
    return (await registry.everything()).files as string[]
  }
  const onServer = await files(await environment('tree'))
  assert.ok(onServer.length > 10)
  assert.deepEqual(onServer, await files({}))
})

test('what a first publish has left that was killed does not stop the next start', {
  skip,
}, async t => {
  const dir = folderOf(t)
  const env = await environment('first')
  await initRegistry(dir, { env }, {})
  const first = await openRegistry(dir, { env })
  const staged = await first.crates.stage(once(Buffer.from('bytes')), 100)
  await staged.keep(`de/mo/demo/${staged.cksum}.crate`)
  await first.close()
  const next = await openRegistry(dir, { env })
  assert.equal((await registryCounts(next.database)).crates, 0)
  await next.close()
})
