import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { slashed } from '../slashed.ts'
import app from './body.ts'

test('body: an item with its defaults', async () => {
  const response = await testClient(slashed(app)).items.index.$post({ json: { price: '50.5' } })
  const item = { name: 'Unnamed item', description: null, price: 50.5, tax: null }
  assert.deepEqual(await response.json(), item)
})

test('body: all that is wrong, also where there is no handler for errors', async () => {
  const response = await testClient(slashed(app)).items.index.$post({
    json: { name: null, price: 'x' } as never,
  })
  assert.equal(response.status, 422)
  assert.match(await response.text(), /"string_type".*"float_parsing"/)
})
