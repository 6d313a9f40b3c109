import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { TestRegistry } from '../support/registry.ts'

/** A registry in which alice owns `demo`; what an owner request of hers gets. */
async function prepared(t: TestContext) {
  const test = await TestRegistry.open(t)
  const token = await test.user('alice')
  for (const login of ['bob', 'carol']) await test.user(login)
  assert.equal((await test.publish(token, { name: 'demo', version: '1.0.0' })).status, 200)
  const ask = async (method: 'PUT' | 'DELETE', body: unknown): Promise<{ errors?: unknown[] }> => {
    const path = '/api/v1/crates/demo/owners'
    const response = await test.request(method, path, token, { body: JSON.stringify(body) })
    return (await response.json()) as { errors?: unknown[] }
  }
  const events = (action: string) => {
    const query = test.registry.database.selectFrom('audit').select('detail').where('action', '=', action)
    return query.orderBy('id').execute()
  }
  return { ask, events }
}

test('one user named by several spellings is one user', async t => {
  const { ask, events } = await prepared(t)
  const users = ['bob', 'BOB', 'Bob', 'carol']
  assert.deepEqual(await ask('PUT', { users }), { ok: true, msg: 'bob, carol now own `demo`' })
  assert.deepEqual(await ask('DELETE', { users }), { ok: true, msg: 'removed bob, carol from the owners of `demo`' })
  const details = [{ detail: '{"login":"bob"}' }, { detail: '{"login":"carol"}' }]
  assert.deepEqual(await events('owner-remove'), details)
})

test('a request names so many users and no more, and a body that is longer is not even read whole', async t => {
  const { ask } = await prepared(t)
  const objection =
    'the request names more users than the 100 that may be named at once; name the others in another one'
  const many = Array.from({ length: 101 }, (_, i) => `u${i}`)
  assert.deepEqual(await ask('PUT', { users: many }), { errors: [{ detail: objection }] })
  assert.equal((await ask('PUT', { users: many.slice(0, 100) })).errors?.length, 100)
  assert.deepEqual(await ask('DELETE', { users: ['x'.repeat(65_536)] }), { errors: [{ detail: objection }] })
})
