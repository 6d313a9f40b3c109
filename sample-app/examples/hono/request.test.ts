import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './request.ts'

test('request: path, query, header, cookie and JSON', async () => {
  const headers = { 'X-Trace': '7', Cookie: 'session=abc' }
  const init = { method: 'POST', headers, body: '{"price":2}' }
  const response = await app.request('/items/5?q=a&tag=x&tag=y', init)
  const { json, all, ...rest } = JSON.parse(await response.text())
  assert.deepEqual({ json, all }, { json: { price: 2 }, all: ['x', 'y'] })
  assert.deepEqual([rest.param, rest.query, rest.header, rest.cookie], ['5', 'a', '7', 'abc'])
  assert.deepEqual([rest.path, rest.method], ['/items/5', 'POST'])
  const long = { method: 'POST', body: ' '.repeat(1024 * 1024 + 1) }
  assert.equal((await app.request('/items/5', long)).status, 413)
})
