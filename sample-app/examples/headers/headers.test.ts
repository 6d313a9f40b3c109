import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './headers.ts'

test('headers: in any letter case, by their second name, at least 1', async () => {
  const headers = { 'USER-agent': 'ua/1', items_id: '7' }
  const response = await app.request('/items/', { headers })
  assert.deepEqual(await response.json(), { 'User-Agent': 'ua/1', items_id: 7 })
  const small = await app.request('/items/', { headers: { 'items-id': '0' } })
  assert.match(await small.text(), /"greater_than_equal","loc":\["header","items-id"\]/)
})

test('headers: one twice, and one that is absent, told as it was declared', async () => {
  const headers = new Headers({ 'x-trace-id': '00c0ffee', 'X-Tag': 'a' })
  headers.append('X-Tag', 'b')
  const response = await app.request('/trace/', { headers })
  assert.equal(await response.text(), '{"trace":"00c0ffee","tags":["a","b"]}')
  assert.match(await (await app.request('/trace/')).text(), /"loc":\["header","X-Trace-Id"\]/)
})
