import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './cors.ts'

test('cors: who asks first is answered, and only origins on the list are allowed', async () => {
  for (const [Origin, allowed] of [
    ['https://app.example', 'https://app.example'],
    ['https://evil.example', null],
  ] as const) {
    const headers = { Origin, 'Access-Control-Request-Method': 'GET' }
    for (const method of ['OPTIONS', 'GET']) {
      const response = await app.request('/api/items/', { method, headers })
      assert.equal(response.status, method === 'GET' ? 200 : 204)
      assert.equal(response.headers.get('Access-Control-Allow-Origin'), allowed)
    }
  }
})
