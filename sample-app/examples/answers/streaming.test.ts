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

test('streaming: events with their ID, and the rest of them after a break', async () => {
  const response = await app.request('/events?to=2', { headers: { 'last-event-id': '1' } })
  assert.equal(response.headers.get('Content-Type'), 'text/event-stream')
  assert.equal(await response.text(), 'event: tick\ndata: {"id":2}\nid: 2\n\n')
})
