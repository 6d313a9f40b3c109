import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import app from './path-alias.ts'

test('path-alias: the name outside is another', async () => {
  const response = await testClient(app).items[':item-id'].$get({ param: { 'item-id': '5' } })
  assert.deepEqual(await response.json(), { item_id: '5' })
})
