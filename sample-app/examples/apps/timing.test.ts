import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './timing.ts'

test('timing: each part has its time, and the request its number', async () => {
  const { headers } = await app.request('/items/', { headers: { 'X-Request-Id': 'seven' } })
  assert.match(headers.get('Server-Timing') ?? '', /db;dur=[\d.]+;desc="the database".*total;/)
  assert.equal(headers.get('X-Request-Id'), 'seven')
})
