import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './bearer-auth.ts'

const table = { 'Bearer fake-super-secret-token': 200, 'Bearer x': 401, 'Basic x': 400 }
for (const [Authorization, status] of Object.entries(table)) {
  test(`bearer-auth: ${Authorization}`, async () => {
    const response = await app.request('/status', { headers: { Authorization } })
    assert.equal(response.status, status)
  })
}
