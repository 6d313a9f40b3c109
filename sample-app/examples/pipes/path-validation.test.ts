import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './path-validation.ts'

const table = { '1': 200, '1000': 200, '0': 'greater_than', '1001': 'less_than_equal' }
for (const [item_id, expected] of Object.entries(table)) {
  test(`path-validation: ${item_id}`, async () => {
    const response = await app.request(`/items/${item_id}`)
    const body = JSON.parse(await response.text())
    assert.equal(response.status === 200 ? 200 : body.detail[0].type, expected)
  })
}
