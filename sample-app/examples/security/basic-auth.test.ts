import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './basic-auth.ts'

const ask = (user: string) =>
  app.request('/me', { headers: { Authorization: `Basic ${btoa(user)}` } })

test('basic-auth: the right password, a wrong one, an unknown user', async () => {
  assert.deepEqual(await (await ask('johndoe:secret')).json(), { username: 'johndoe' })
  for (const user of ['johndoe:x', 'constructor:secret']) {
    const response = await ask(user)
    assert.equal(response.status, 401)
    assert.match(response.headers.get('WWW-Authenticate') ?? '', /^Basic realm="Sample/)
  }
})
