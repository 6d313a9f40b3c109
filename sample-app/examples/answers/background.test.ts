import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { slashed } from '../slashed.ts'
import app, { sent } from './background.ts'

test('background: the answer does not wait', async () => {
  const response = await testClient(slashed(app)).notifications.index.$post({
    json: { to: 'johndoe' },
  })
  assert.equal(response.status, 202)
  await response.json()
  assert.deepEqual(sent, ['johndoe'])
})
