import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { slashed } from '../slashed.ts'
import app from './forms.ts'

test('forms: the username comes back', async () => {
  const form = { username: 'Foo', password: 'bar' }
  const response = await testClient(slashed(app)).login.index.$post({ form })
  assert.deepEqual(await response.json(), { username: 'Foo' })
})

test('forms: what is empty is missing, and JSON is no form', async () => {
  const body = new URLSearchParams({ username: '', password: 'x' })
  const empty = await app.request('/login/', { method: 'POST', body })
  assert.match(await empty.text(), /^\{"detail":\[\{[^{}]*"username"[^{}]*\}\]\}$/)
  const json = await app.request('/login/', { method: 'POST', body: '{}' })
  assert.equal(JSON.parse(await json.text()).detail.length, 2)
})
