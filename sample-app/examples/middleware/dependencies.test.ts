import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { slashed } from '../slashed.ts'
import app from './dependencies.ts'

const { items, users } = testClient(slashed(app))

test('dependencies: the same values on both paths', async () => {
  const query = { q: 'foo', limit: '30' }
  for (const { index } of [items, users]) {
    assert.deepEqual(await (await index.$get({ query })).json(), { q: 'foo', skip: 0, limit: 30 })
    assert.equal((await index.$get({ query: { skip: 'x' } })).status, 422)
  }
})
