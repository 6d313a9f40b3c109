import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './dependencies-nested.ts'

const table = [
  ['?q=a', 'last_query=b', 'a'],
  ['?q=', 'last_query=b', 'b'],
  ['', 'last_query=', ''],
  ['', '', null],
] as const
for (const [query, Cookie, q_or_cookie] of table) {
  test(`dependencies-nested: ${query} and ${Cookie}`, async () => {
    const response = await app.request(`/items/1${query}`, { headers: { Cookie } })
    assert.deepEqual(await response.json(), { q_or_cookie })
  })
}
