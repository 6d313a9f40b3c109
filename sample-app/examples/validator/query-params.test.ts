import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { slashed } from '../slashed.ts'
import app from './query-params.ts'

const { items } = testClient(slashed(app))

test('query-params: a page of the list', async () => {
  const response = await items.index.$get({ query: { skip: '1', limit: '1' } })
  assert.deepEqual(await response.json(), [{ item_name: 'Bar' }])
})

test('query-params: what is wrong with both comes in one answer', async () => {
  const response = await app.request('/items/?skip=x&limit=')
  assert.equal(response.status, 422)
  assert.match(await response.text(), /\["query","skip"\].*\["query","limit"\]/)
})
