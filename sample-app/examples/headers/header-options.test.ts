import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './header-options.ts'

test('header-options: one of them twice', async () => {
  const headers = new Headers({ 'x-trace-id': '00c0ffee', 'X-Tag': 'a' })
  headers.append('X-Tag', 'b')
  const response = await app.request('/items/', { headers })
  assert.deepEqual(await response.json(), { trace: '00c0ffee', tags: ['a', 'b'] })
  assert.equal(response.headers.get('X-Trace-Id'), '00c0ffee')
})

test('header-options: an error spells the name as it was declared', async () => {
  const { detail } = JSON.parse(await (await app.request('/items/')).text())
  assert.deepEqual(detail[0].loc, ['header', 'X-Trace-Id'])
})
