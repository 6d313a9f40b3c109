import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import app from './client.ts'

test('client: what the other app says', async () => {
  assert.deepEqual(await (await testClient(app).first.$get()).json(), { first: 'Foo' })
})
