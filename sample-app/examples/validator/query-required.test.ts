import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import app from './query-required.ts'

const { items } = testClient(app)

test('query-required: it is there, also if it is empty', async () => {
  const response = await items[':item_id'].$get({ param: { item_id: 'a' }, query: { needy: '' } })
  assert.deepEqual(await response.json(), { item_id: 'a', needy: '' })
})

test('query-required: it is missing', async () => {
  const response = await app.request('/items/a?Needy=x')
  const missing = { type: 'missing', loc: ['query', 'needy'], msg: 'Field required', input: null }
  assert.deepEqual([response.status, await response.json()], [422, { detail: [missing] }])
})
