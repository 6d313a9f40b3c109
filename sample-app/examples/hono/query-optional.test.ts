import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './query-optional.ts'

const table = {
  ...{ '?q=news': { q: 'news' }, '?q=': {}, '': {}, '?q=a+b%21': { q: 'a b!' } },
  ...{ '?q=a&q=b': { q: 'b' }, '?q=a&q=': {} },
}
for (const [query, rest] of Object.entries(table)) {
  test(`query-optional: ${query || 'nothing'}`, async () => {
    const response = await app.request(`/items/foo${query}`)
    assert.deepEqual(await response.json(), { item_id: 'foo', ...rest })
  })
}
