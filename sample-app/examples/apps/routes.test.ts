import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import app from './routes.ts'

const { api } = testClient(app)

test('routes: each file answers below its path, with its checks', async () => {
  const item = await api.items[':number'].$get({ param: { number: '2' } })
  assert.deepEqual(await item.json(), { item_name: 'Bar' })
  assert.equal((await api.items.$get({ query: { skip: 'x' } })).status, 422)
  assert.deepEqual(await (await api.version.$get()).json(), { version: 1 })
})
