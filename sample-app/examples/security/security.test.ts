import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import app from './security.ts'

const client = testClient(app)
const me = (Authorization: string) =>
  client.users.me.$get(undefined, { headers: { Authorization } })

test('security: a password becomes a token, and a token a user', async () => {
  const form = { username: 'johndoe', password: 'secret' }
  const token = await (await client.token.$post({ form })).json()
  assert.deepEqual(token, { access_token: 'johndoe', token_type: 'bearer' })
  assert.equal((await client.token.$post({ form: { ...form, password: 'x' } })).status, 400)
  assert.match(await (await me('bearer  johndoe')).text(), /"John Doe","disabled":false\}$/)
  assert.equal((await me('Bearer nobody')).status, 401)
  assert.equal((await me('Bearer alice')).status, 400)
})
