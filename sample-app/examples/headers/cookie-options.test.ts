import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './cookie-options.ts'

test('cookie-options: a value, none, a wrong one', async () => {
  const send = (Cookie: string) => app.request('/items/', { headers: { Cookie } })
  assert.deepEqual(await (await send('session-id=a1')).json(), { session: 'a1' })
  assert.deepEqual(await (await send('')).json(), { session: 'guest' })
  assert.equal((await send('session-id=A')).status, 422)
})

test('cookie-options: one is set and deleted', async () => {
  const set = await app.request('/session/', { method: 'POST' })
  assert.match(set.headers.get('Set-Cookie') ?? '', /^session-id=abc123; .*HttpOnly; Secure/)
  const gone = await app.request('/session/', { method: 'DELETE' })
  assert.match(gone.headers.get('Set-Cookie') ?? '', /^session-id=; Max-Age=0/)
})
