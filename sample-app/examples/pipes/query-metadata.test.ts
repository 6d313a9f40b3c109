import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { slashed } from '../slashed.ts'
import app from './query-metadata.ts'

const { index } = testClient(slashed(app)).items

test('query-metadata: only the alias counts, and errors name it', async () => {
  const { q } = await (await index.$get({ query: { 'item-query': 'fixedquery' } })).json()
  assert.equal(q, 'fixedquery')
  assert.match(await (await app.request('/items/?q=fixedquery')).text(), /^\{"q":null,/)
  const wrong = await index.$get({ query: { 'item-query': 'other' } })
  assert.match(await wrong.text(), /"string_pattern_mismatch","loc":\["query","item-query"\]/)
})

test('query-metadata: the name in the path is another inside', async () => {
  assert.deepEqual(await (await app.request('/items/5')).json(), { item_id: '5' })
})
