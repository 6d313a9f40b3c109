import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './global-dependencies.ts'

const [token, key] = ['fake-super-secret-token', 'fake-super-secret-key']
const table = [
  [{ 'X-Token': token, 'X-Key': key }, 200, /Portal Gun/],
  [{ 'X-Token': `${token}x`, 'X-Key': '' }, 400, /X-Token header invalid/],
  [{ 'X-Key': 'x' }, 400, /X-Key header invalid/],
  [{}, 422, /x-token.*x-key/],
] as const
for (const [headers, status, text] of table) {
  test(`global-dependencies: ${Object.keys(headers)} is ${status}`, async () => {
    const response = await app.request('/items/', { headers: { ...headers } })
    assert.equal(response.status, status)
    assert.match(await response.text(), text)
  })
}
