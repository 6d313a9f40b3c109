import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './basic-bearer.ts'

const ask = (path: string, Authorization: string) =>
  app.request(path, { headers: { Authorization } })
const of = (user: string) => ask('/me', `Basic ${btoa(user)}`)

test('basic-bearer: the right password, a wrong one, an unknown user', async () => {
  assert.deepEqual(await (await of('johndoe:secret')).json(), { username: 'johndoe' })
  for (const refused of [await of('johndoe:x'), await of('constructor:secret')])
    assert.match(refused.headers.get('WWW-Authenticate') ?? '', /^Basic realm="Sample/)
})

test('basic-bearer: the right token, a wrong one, none', async () => {
  const tokens = ['Bearer fake-super-secret-token', 'Bearer x', 'Basic x']
  const asked = tokens.map(async token => (await ask('/status', token)).status)
  assert.deepEqual(await Promise.all(asked), [200, 401, 400])
})
