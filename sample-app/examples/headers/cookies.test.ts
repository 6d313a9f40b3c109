import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './cookies.ts'

test('cookies: a value, an empty one, none, a wrong one', async () => {
  const table = { 'x=1; ads_id=abc': 'abc', 'ads_id=': '', 'Ads_id=a': null, 'constructor=a': null }
  const ask = (path: string, Cookie: string) => app.request(path, { headers: { Cookie } })
  for (const [Cookie, ads_id] of Object.entries(table))
    assert.deepEqual(await (await ask('/items/', Cookie)).json(), { ads_id }, Cookie)
  assert.deepEqual(await (await ask('/session/', '')).json(), { 'session-id': 'guest' })
  assert.equal((await ask('/session/', 'session-id=A')).status, 422)
})

test('cookies: one is set and deleted', async () => {
  const set = await app.request('/session/', { method: 'POST' })
  assert.match(set.headers.get('Set-Cookie') ?? '', /^session-id=abc123; .*HttpOnly; Secure/)
  const gone = await app.request('/session/', { method: 'DELETE' })
  assert.match(gone.headers.get('Set-Cookie') ?? '', /^session-id=; Max-Age=0/)
})
