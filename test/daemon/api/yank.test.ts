import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestRegistry } from '../../support/registry.ts'

test('a yank names a version whole; without its build metadata it is told which one there is', async t => {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  await test.publish(token, { name: 'demo', version: '1.0.0+x' })
  const yank = async (version: string) => {
    const path = `/api/v1/crates/demo/${version}/yank`
    const answer = await test.request('DELETE', path, token)
    return [answer.status, await answer.json()]
  }
  const detail =
    'there is no version 1.0.0 of `demo` here, but 1.0.0+x, which differs only in build metadata; name that one'
  assert.deepEqual(await yank('1.0.0'), [404, { errors: [{ detail }] }])
  assert.doesNotMatch((await test.shown('index/de/mo/demo')) ?? '', /"yanked":true/)
  for (let twice = 0; twice < 2; twice++)
    assert.deepEqual(await yank('1.0.0+x'), [200, { ok: true }])
  assert.match((await test.shown('index/de/mo/demo')) ?? '', /"yanked":true/)
})

test('a bad token does no harm where reading is open', async t => {
  const test = await TestRegistry.open(t)
  for (const path of ['/index/config.json', '/api/v1/crates?q=demo', '/api/v1/summary'])
    assert.equal((await test.request('GET', path, 'plim_unknown')).status, 200, path)
})
