import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import app from './path-params.ts'

const client = testClient(app)

test('path-params: digits stay text', async () => {
  const response = await client.items[':item_id'].$get({ param: { item_id: '5' } })
  assert.deepEqual(await response.json(), { item_id: '5' })
})

test('path-params: two of them, and a slash that is encoded', async () => {
  const response = await app.request('/items/a%2Fb/7')
  assert.deepEqual(await response.json(), { item_id: 'a/b', user_id: '7' })
})
