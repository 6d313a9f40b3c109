import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './cookies.ts'

const table = { 'x=1; ads_id=abc': 'abc', 'ads_id=': '', 'Ads_id=a': null, 'constructor=a': null }
for (const [Cookie, ads_id] of Object.entries(table)) {
  test(`cookies: ${Cookie}`, async () => {
    const response = await app.request('/items/', { headers: { Cookie } })
    assert.deepEqual(await response.json(), { ads_id })
  })
}
