import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './path-validation-float.ts'

const ask = async (item_id: string) =>
  JSON.parse(await (await app.request(`/items/${item_id}`)).text())

test('path-validation-float: numbers', async () => {
  const table = { '.5': 0.5, '5.': 5, '1e1': 10, '%2B2E0': 2 }
  for (const [text, item_id] of Object.entries(table))
    assert.deepEqual(await ask(text), { item_id })
})

test('path-validation-float: none, and too large ones', async () => {
  const table = { '0x1': 'float_parsing', '1,5': 'float_parsing', '10.5': 'less_than' }
  for (const [text, type] of Object.entries(table)) {
    assert.equal((await ask(text)).detail[0].type, type)
  }
})
