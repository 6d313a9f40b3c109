import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { slashed } from '../slashed.ts'
import app from './query-validation.ts'

const { index } = testClient(slashed(app)).items

test('query-validation: null when absent; an emoji is one character', async () => {
  assert.equal((await (await index.$get({ query: {} })).json()).q, null)
  const q = '😀'.repeat(50)
  assert.equal((await (await index.$get({ query: { q } })).json()).q, q)
})

test('query-validation: 51 are too many', async () => {
  assert.equal((await index.$get({ query: { q: 'a'.repeat(51) } })).status, 422)
})
