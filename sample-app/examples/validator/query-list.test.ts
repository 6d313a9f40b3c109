import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { slashed } from '../slashed.ts'
import app from './query-list.ts'

const { index } = testClient(slashed(app)).items

for (const q of [['foo', 'bar'], ['a,b'], ['']]) {
  test(`query-list: ${JSON.stringify(q)}`, async () => {
    assert.deepEqual(await (await index.$get({ query: { q } })).json(), { q })
  })
}

test('query-list: none', async () => {
  assert.deepEqual(await (await app.request('/items/?q[]=a')).json(), { q: null })
})
