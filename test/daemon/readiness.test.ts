import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Hono } from 'hono'
import { readiness, whileStarting } from '../../daemon/readiness.ts'
import { all, run } from '../../generator/database/statement.ts'
import { DATABASE_FILE } from '../../generator/registry/folder.ts'
import { readStatus, warningsOf } from '../../generator/status.ts'
import { Cleanup } from '../support/cleanup.ts'
import { damageTable } from '../support/damage-file.ts'
import { isOnPostgres } from '../support/engine.ts'
import { openServer } from '../support/open-server.ts'
import { refusedWith } from '../support/refusal.ts'
import { TestRegistry } from '../support/registry.ts'
import { startS3 } from '../support/s3/bucket.ts'
import { until } from '../support/until.ts'

/** What `/readyz` says, when what it said before no longer holds. */
async function ready(test: TestRegistry): Promise<[number, string]> {
  test.now = new Date(test.now.getTime() + 1000)
  const response = await test.request('GET', '/readyz')
  assert.equal(response.headers.get('cache-control'), 'no-store')
  assert.equal((await test.request('GET', '/healthz')).status, 200, 'the process lives')
  for (const path of ['/healthz', '/startupz', '/readyz'])
    assert.equal((await test.request('GET', path)).headers.get('cache-control'), 'no-store', path)
  return [response.status, await response.text()]
}

/** Puts a file where a folder was, as good as a disk that is gone; undone by the function it gives. */
function block(path: string): () => void {
  renameSync(path, `${path}.aside`)
  writeFileSync(path, '')
  return () => {
    rmSync(path)
    renameSync(`${path}.aside`, path)
  }
}

const READY: [number, string] = [200, 'ready\n']

test('ready means that records, crate store and public tree can be written to', async t => {
  const test = await TestRegistry.open(t, { env: { PLIMSOLL_AUTH_REQUIRED: 'true' } })
  const { database } = test.registry
  assert.deepEqual(await ready(test), READY)
  const leftovers = () =>
    readdirSync(test.dir, { recursive: true }).filter(name => String(name).includes('.writing-'))
  assert.deepEqual(leftovers(), [])

  await run(database, 'PRAGMA query_only = ON')
  assert.deepEqual(await ready(test), [503, 'not ready: catalog\n'])
  await run(database, 'PRAGMA query_only = OFF')
  assert.deepEqual(await ready(test), READY)

  mkdirSync(join(test.dir, 'crates', 'incoming'), { recursive: true })
  const unblockCrates = block(join(test.dir, 'crates', 'incoming'))
  assert.deepEqual(await ready(test), [503, 'not ready: crate store\n'])
  const unblockTree = block(test.registry.tree.root)
  assert.deepEqual(await ready(test), [503, 'not ready: crate store, public tree\n'])
  unblockCrates()
  unblockTree()
  assert.deepEqual(await ready(test), READY)
})

test('a registry is not ready while something else answers as its object storage', async t => {
  const s3 = await startS3(new Cleanup(t))
  const test = await TestRegistry.open(t, { env: s3.env() })
  const token = await test.user('ann')
  assert.deepEqual(await ready(test), READY)
  s3.fault = ({ method }) => (method === 'PUT' ? 'page' : null)
  const { status, body } = await test.publish(token, { name: 'lost', version: '1.0.0' })
  assert.equal(status, 503)
  assert.match(
    JSON.stringify(body),
    /what answers as the object storage is none \(PUT 200 with a page/,
  )
  s3.pageHeaders = { etag: '"page"' }
  s3.fault = ({ method }) => (method === 'HEAD' ? 'page' : null)
  assert.deepEqual(await ready(test), [503, 'not ready: crate store (no object storage)\n'])
  s3.fault = () => null
  assert.deepEqual(await ready(test), READY)
})

test('a damaged database is not ready, and metrics and status say so, after it was read once', {
  skip: isOnPostgres ? 'a server has no file' : false,
}, async t => {
  const test = await TestRegistry.open(t)
  assert.deepEqual(await ready(test), READY)
  damageTable(join(test.dir, DATABASE_FILE), 'invitations')
  const token = await test.user('alice')
  assert.deepEqual(await ready(test), READY, 'nobody knows yet')
  await test.publish(token, { name: 'demo', version: '1.0.0' })
  const rows = await all(test.registry.database, 'SELECT * FROM invitations').catch(
    (error: unknown) => error,
  )
  assert.ok(refusedWith('database_damaged')(rows))
  for (const _ of [1, 2])
    assert.deepEqual(await ready(test), [503, 'not ready: database damaged\n'])
  const metrics = await (await test.metrics.page()).text()
  assert.match(metrics, /^plimsoll_database_damaged 1$/m)
  const [warning = ''] = warningsOf(await readStatus(test.registry, test.now, 1))
  assert.match(warning, /^the database is damaged: .+; stop the daemon and keep the folder, then/)
})

test('a server that is slow is as ready as it was, until it fails', {
  skip: isOnPostgres ? false : 'needs a server',
}, async t => {
  const test = await TestRegistry.open(t)
  assert.deepEqual(await ready(test), READY)
  let fail: (error: Error) => void = () => undefined
  const slow = t.mock.method(test.registry.database, 'execute', () => {
    return new Promise<never>((_, reject) => {
      fail = reject
    })
  })
  assert.deepEqual(await ready(test), READY)
  fail(new Error('the server has not answered in time'))
  slow.mock.restore()
  await until(async () => (await ready(test))[0] === 200, 'it is not asked again')
})

test('asking often makes no more work', async t => {
  const test = await TestRegistry.open(t)
  const probe = t.mock.method(test.registry.tree, 'probe')
  const asked = Array.from({ length: 50 }, () => test.request('GET', '/readyz'))
  assert.ok((await Promise.all(asked)).every(response => response.ok))
  assert.equal(probe.mock.callCount(), 1)
  await ready(test)
  assert.equal(probe.mock.callCount(), 2)
})

test('a part that does not answer is named within two seconds, and asked once', async t => {
  const test = await TestRegistry.open(t)
  let answer = (): void => undefined
  const probe = t.mock.method(test.registry.tree, 'probe', () => {
    return new Promise<void>(resolve => {
      answer = resolve
    })
  })
  const late = AbortSignal.timeout(2000)
  for (const answer of await Promise.all([ready(test), ready(test)]))
    assert.deepEqual(answer, [503, 'not ready: public tree\n'])
  assert.ok(!late.aborted)
  assert.equal(probe.mock.callCount(), 1)
  answer()
  probe.mock.restore()
  assert.deepEqual(await ready(test), READY)
})

test('a registry is not ready while the disk has no room for the largest .crate', async t => {
  const test = await TestRegistry.open(t, { env: { PLIMSOLL_LIMITS_CRATE_BYTES: '1000000' } })
  let free = 999_999
  let seconds = 0
  const clock = () => new Date(Date.UTC(2026, 10, 20, 12, 0, seconds++))
  const app = new Hono()
  const registry = { ...test.registry, clock }
  app.get('/readyz', readiness({ registry, metrics: test.metrics, freeBytes: async () => free }))
  const ask = async () => {
    const response = await app.request('/readyz')
    return [response.status, await response.text()]
  }
  assert.deepEqual(await ask(), [503, 'not ready: disk full\n'])
  free = 1_000_000
  assert.deepEqual(await ask(), [200, 'ready\n'])
})

test('while the daemon starts it lives and is not ready; all else waits', async t => {
  const server = await openServer(t, { meanwhile: whileStarting })
  const early = fetch(`${server.url}/index/config.json`)
  for (const [path, status, text] of [
    ['/healthz', 200, 'ok\n'],
    ['/readyz?x=1', 503, 'not ready: starting\n'],
    ['/startupz', 503, 'not ready: starting\n'],
  ] as const) {
    const response = await fetch(`${server.url}${path}`)
    assert.deepEqual([response.status, await response.text()], [status, text])
  }
  server.answer(() => new Response('the app'))
  for (const answer of [early, fetch(`${server.url}/readyz`)])
    assert.equal(await (await answer).text(), 'the app')
})
