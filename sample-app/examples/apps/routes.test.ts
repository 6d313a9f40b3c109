import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import app from './routes.ts'

const { api } = testClient(app)

test('routes: each file answers below its path, with its checks', async () => {
  const item = await api.shop.items[':item_id'].$get({ param: { item_id: '1' } })
  assert.deepEqual(await item.json(), { name: 'Foo' })
  assert.equal(item.headers.get('X-Outcome'), 'committed')
  const { items } = api.staff.users[':user_id']
  const param = { user_id: 'x', item_id: 'a' }
  assert.equal((await items[':item_id'].$get({ param, query: {} })).status, 422)
  assert.deepEqual(await (await api.version.$get()).json(), { version: 1 })
})
