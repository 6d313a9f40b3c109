import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import app from './root.ts'

test('root: a message', async () => {
  const response = await testClient(app).index.$get()
  assert.deepEqual(await response.json(), { message: 'Hello World' })
})
