import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { slashed } from '../slashed.ts'
import app from './dependencies-class.ts'

const { items, users } = testClient(slashed(app))

test('dependencies-class: a page, with q only if it is not empty', async () => {
  const response = await users.index.$get({ query: { q: '', skip: '1', limit: '1' } })
  assert.deepEqual(await response.json(), { items: [{ item_name: 'Bar' }] })
  const past = await items.index.$get({ query: { q: 'foo', skip: '5' } })
  assert.deepEqual(await past.json(), { q: 'foo', items: [] })
})
