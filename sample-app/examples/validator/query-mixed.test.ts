import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './query-mixed.ts'

const ask = async (path: string) => JSON.parse(await (await app.request(path)).text())

test('query-mixed: a yes, a no', async () => {
  assert.deepEqual(await ask('/users/1/items/a?short=ON'), { item_id: 'a', owner_id: 1 })
  const { q, description } = await ask('/users/1/items/a?short=f&q=x')
  assert.deepEqual([q, typeof description], ['x', 'string'])
})

test('query-mixed: the path first, then the query', async () => {
  const { detail } = await ask('/users/x/items/a?short=maybe')
  const types = detail.map((problem: { type: string }) => problem.type)
  assert.deepEqual(types, ['int_parsing', 'bool_parsing'])
})
