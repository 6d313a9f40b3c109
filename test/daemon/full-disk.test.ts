// Mirrors daemon/http/answer.ts
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { run } from '../../generator/database/statement.ts'
import { TestRegistry } from '../support/registry.ts'
import { Visitor } from '../support/visitor.ts'

const SETTINGS = { PLIMSOLL_LIMITS_CRATE_BYTES: '100000', PLIMSOLL_AUTH_PASSWORD_COST: '14' }

/** A registry whose disk can be filled and given room again. */
async function onSmallDisk(t: TestContext) {
  const parent = mkdtempSync(join(tmpdir(), 'plimsoll-disk-'))
  const run = (command: string, ...args: string[]) => spawnSync(command, args).status === 0
  const isMounted = run('mount', '-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', parent)
  try {
    const test = await TestRegistry.open(t, { parent, env: SETTINGS })
    return { test, ...(isMounted ? fileOf(parent) : pagesOf(test)) }
  } finally {
    // After the registry was closed.
    t.after(() => {
      if (isMounted) run('umount', '-l', parent)
      rmSync(parent, { recursive: true, force: true })
    })
  }
}

/** Takes all room by a file. */
function fileOf(folder: string) {
  const ballast = join(folder, 'ballast')
  return {
    fill: async () => {
      const file = openSync(ballast, 'w')
      const write = () => {
        for (;;) writeSync(file, new Uint8Array(65_536))
      }
      assert.throws(write, /ENOSPC/)
      closeSync(file)
    },
    makeRoom: async () => rmSync(ballast),
  }
}

/** Where nothing may be mounted: lets the database grow no more. */
function pagesOf({ registry: { database } }: TestRegistry) {
  const limit = (pages: number) => run(database, `PRAGMA max_page_count = ${pages}`)
  return {
    fill: async () => {
      await limit(1)
      const rows = async () => {
        for (;;) await run(database, 'INSERT INTO ballast VALUES (zeroblob(4000))')
      }
      await assert.rejects(run(database, 'CREATE TABLE ballast (bytes BLOB)').then(rows), /full/)
    },
    makeRoom: () => limit(1_000_000),
  }
}

async function ready(test: TestRegistry): Promise<[number, string]> {
  test.now = new Date(test.now.getTime() + 1000)
  const response = await test.request('GET', '/readyz')
  return [response.status, await response.text()]
}

test('a full disk refuses publishes with the reason, and service returns by itself', async t => {
  const { test, fill, makeRoom } = await onSmallDisk(t)
  const token = await test.user('alice')
  const first = await test.publish(token, { name: 'demo', version: '1.0.0' })
  assert.equal('errors' in first.body, false)
  await test.indexWorker.pages.flush()
  assert.deepEqual(await ready(test), [200, 'ready\n'])

  await fill()
  const { status, body } = await test.publish(token, { name: 'demo', version: '1.0.1' })
  assert.equal(status, 507)
  assert.match(String(body.errors?.[0]?.detail), /^the disk of the registry is full.*try again/s)
  assert.deepEqual(await ready(test), [503, 'not ready: disk full\n'])
  assert.equal((await test.request('GET', '/index/de/mo/demo')).status, 200, 'reading goes on')
  // The probes of the chart: restarting would not help, and its readers would have nobody.
  for (const path of ['/healthz', '/startupz'])
    assert.equal((await test.request('GET', path)).status, 200, path)
  assert.ok(
    test.logged.some(line => line.includes('the registry cannot be written to')),
    'the operator reads it in the log',
  )

  await makeRoom()
  assert.deepEqual(await ready(test), [200, 'ready\n'])
  const again = await test.publish(token, { name: 'demo', version: '1.0.1' })
  assert.deepEqual([again.status, 'errors' in again.body], [200, false])
  assert.match((await test.shown('index/de/mo/demo')) ?? '', /"1\.0\.1"/)
})

test('what cannot be written says when to try again, to Cargo and on pages', async t => {
  const test = await TestRegistry.open(t, { env: SETTINGS })
  const { database } = test.registry
  const token = await test.user('alice')
  await test.publish(token, { name: 'demo', version: '1.0.0' })
  const visitor = new Visitor(test)
  await run(database, 'PRAGMA query_only = ON')
  const yank = await test.request('DELETE', '/api/v1/crates/demo/1.0.0/yank', token)
  assert.deepEqual([yank.status, yank.headers.get('retry-after')], [503, '10'])
  assert.match(await yank.text(), /the registry cannot be written to/)
  const login = await visitor.logIn('alice', 'wrong')
  assert.deepEqual([login.status, login.headers.get('retry-after')], [503, '10'])
  await run(database, 'PRAGMA query_only = OFF')
  const later = await test.request('DELETE', '/api/v1/crates/demo/1.0.0/yank', token)
  assert.equal(later.status, 200)
})
