// Mirrors daemon/app.ts: what a failed sync behind a commit is answered with
import assert from 'node:assert/strict'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isOnPostgres } from '../support/engine.ts'
import { TestRegistry } from '../support/registry.ts'
import { until } from '../support/until.ts'
import { loggedIn, withPassword } from '../support/visitor.ts'

/** Lets every sync of the log fail, as on a full network disk; undone by the function it gives. */
async function failSyncs(t: TestContext, dir: string): Promise<() => void> {
  const file = await open(join(dir, 'plimsoll.toml'))
  const prototype = Object.getPrototypeOf(file) as FileHandle
  await file.close()
  const failure = Object.assign(new Error('ENOSPC: no space left, fdatasync'), { code: 'ENOSPC' })
  const failing = t.mock.method(prototype, 'datasync', () => Promise.reject(failure))
  return () => failing.mock.restore()
}

test('what fails behind the commit is no refusal: nobody knows, and what was made is shown', {
  skip: isOnPostgres ? 'the log is of SQLite' : false,
}, async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice', {}, true)
  await test.publish(token, { name: 'before', version: '1.0.0' })
  const unknown =
    /^nobody knows whether the change was made, or will last: the disk failed to sync it \(ENOSPC: no space left\); look whether it was made, then try again$/
  const mend = await failSyncs(t, test.dir)
  const published = await test.publish(token, { name: 'demo', version: '1.0.0' })
  const yank = await test.request('DELETE', '/api/v1/crates/before/1.0.0/yank', token)
  mend()
  const { errors } = (await yank.json()) as { errors: { detail: string }[] }
  for (const [status, detail] of [
    [published.status, published.body.errors?.[0]?.detail],
    [yank.status, errors[0]?.detail],
  ] as const) {
    assert.equal(status, 503)
    assert.match(String(detail), unknown)
  }
  const shown = async (path: string) => (await test.shown(path)) ?? ''
  await until(async () => (await shown('index/de/mo/demo')).includes('1.0.0'), 'it is not shown')
  const isYanked = async () => (await shown('index/be/fo/before')).includes('"yanked":true')
  await until(isYanked, 'the yank is not shown')
  assert.equal((await test.publish(token, { name: 'demo', version: '1.0.0' })).status, 200)
})

test('who has perhaps left a crate is told that nobody knows, not that they are no owner', {
  skip: isOnPostgres ? 'the log is of SQLite' : false,
}, async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  await test.user('bob')
  await withPassword(test, 'alice')
  await test.publish(token, { name: 'demo', version: '1.0.0' })
  const body = JSON.stringify({ users: ['bob'] })
  await test.request('PUT', '/api/v1/crates/demo/owners', token, { body })
  const visitor = await loggedIn(test, 'alice')
  const mend = await failSyncs(t, test.dir)
  const left = await visitor.post('/me/crates/demo/owners/remove', { login: 'alice' })
  mend()
  assert.equal(left.status, 503)
  assert.match(await left.text(), /Nobody knows whether the change was made/)
})
