import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { slashed } from '../slashed.ts'
import app from './query-default.ts'

const { index } = testClient(slashed(app)).items

test('query-default: the default, and another value', async () => {
  assert.equal((await (await index.$get({ query: {} })).json()).q, 'fixedquery')
  assert.equal((await (await index.$get({ query: { q: 'other' } })).json()).q, 'other')
})

test('query-default: too short', async () => {
  const response = await index.$get({ query: { q: 'ab' } })
  assert.match(await response.text(), /"String should have at least 3 characters"/)
})
