import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import app from './streaming.ts'

test('streaming: line by line', async () => {
  const response = await testClient(app).count.$get({ query: { to: '3' } })
  assert.equal(await response.text(), '1\n2\n3\n')
})

test('streaming: what is wrong is said before the first line', async () => {
  assert.equal((await app.request('/count?to=-1')).status, 422)
})
