import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { slashed } from '../slashed.ts'
import app from './query-metadata.ts'

const { index } = testClient(slashed(app)).items

test('query-metadata: only the alias counts', async () => {
  const { q } = await (await index.$get({ query: { 'item-query': 'fixedquery' } })).json()
  assert.equal(q, 'fixedquery')
  const other = await app.request('/items/?q=fixedquery')
  assert.match(await other.text(), /^\{"q":null,/)
})

test('query-metadata: errors name the alias', async () => {
  const response = await index.$get({ query: { 'item-query': 'other' } })
  assert.match(await response.text(), /"string_pattern_mismatch","loc":\["query","item-query"\]/)
})
