import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './path-validation-str.ts'

const table = {
  A: 'string_too_short',
  AB: 'string_pattern_mismatch',
  '%F0%9F%98%80': 'string_too_short',
  abcdefghijk: 'string_too_long',
}
for (const [item_id, type] of Object.entries(table)) {
  test(`path-validation-str: ${item_id}`, async () => {
    const { detail } = JSON.parse(await (await app.request(`/items/${item_id}`)).text())
    assert.deepEqual([detail[0].type, detail.length], [type, 1])
  })
}
