import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import app from './https.ts'

test('https: a message, whatever it is served over', async () => {
  const response = await testClient(app).https.$get()
  assert.deepEqual(await response.json(), { message: 'Hello over HTTPS' })
})
