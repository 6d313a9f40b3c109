import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { slashed } from '../slashed.ts'
import app from './headers.ts'

const { index } = testClient(slashed(app)).items

test('headers: in any letter case, and by their second name', async () => {
  const response = await app.request('/items/', {
    headers: { 'USER-agent': 'ua/1', items_id: '7' },
  })
  assert.deepEqual(await response.json(), { 'User-Agent': 'ua/1', items_id: 7 })
})

test('headers: at least 1', async () => {
  const response = await index.$get({ header: { 'items-id': '0' } })
  assert.match(await response.text(), /"greater_than_equal","loc":\["header","items-id"\]/)
})
