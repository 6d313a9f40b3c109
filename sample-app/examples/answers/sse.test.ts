import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './sse.ts'

test('sse: events with their ID, and the rest of them after a break', async () => {
  const response = await app.request('/events?last=2', { headers: { 'last-event-id': '1' } })
  assert.equal(response.headers.get('Content-Type'), 'text/event-stream')
  assert.equal(await response.text(), 'event: tick\ndata: {"id":2}\nid: 2\n\n')
})
