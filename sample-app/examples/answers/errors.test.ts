import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './errors.ts'

const table = [
  ['GET', '/items/1', 200, { item_id: 1, name: 'Foo' }],
  ['GET', '/items/2', 404, { detail: 'There is no item 2' }],
  ['PUT', '/items/2', 201, { item_id: 2 }],
  ['DELETE', '/items/2', 409, { detail: 'Items are kept' }],
] as const
for (const [method, path, status, expected] of table) {
  test(`errors: ${method} ${path}`, async () => {
    const response = await app.request(path, { method })
    assert.deepEqual([response.status, await response.json()], [status, expected])
    assert.equal(response.headers.get('Location'), method === 'PUT' ? path : null)
    assert.equal((await app.request('/items/0', { method })).status, 422)
  })
}
