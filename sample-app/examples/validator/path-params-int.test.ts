import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './path-params-int.ts'

test('path-params-int: a sign, zeros and blanks are read', async () => {
  for (const [text, item_id] of Object.entries({ '5': 5, '-007': -7, '%2B5': 5, '%205%20': 5 })) {
    assert.deepEqual(await (await app.request(`/items/${text}?q=`)).json(), { item_id })
  }
})

test('path-params-int: nothing else is', async () => {
  const wrong = ['5.0', '1e3', '0x10', '1_000', '--5', '%20', 'true', '٥', '9007199254740993']
  for (const text of wrong) {
    const response = await app.request(`/items/${encodeURI(decodeURI(text))}`)
    assert.equal(response.status, 422, text)
  }
})
