import assert from 'node:assert/strict'
import { test } from 'node:test'
import app, { Session } from './dependencies-cleanup.ts'

test('dependencies-cleanup: closed after an answer and after an error', async context => {
  context.mock.method(console, 'error', () => undefined)
  for (const [path, status, outcome] of [
    ['/items/1', 200, 'committed'],
    ['/items/2', 500, 'rolled back'],
  ] as const) {
    const response = await app.request(path)
    assert.deepEqual([response.status, response.headers.get('X-Outcome')], [status, outcome])
    assert.equal(Session.open, 0)
  }
})
