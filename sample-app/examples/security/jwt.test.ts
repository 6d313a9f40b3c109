import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sign } from 'hono/jwt'
import { testClient } from 'hono/testing'
import app from './jwt.ts'

const { token, me } = testClient(app)
const ask = (jwt: string) => me.$get(undefined, { headers: { Authorization: `Bearer ${jwt}` } })

test('jwt: a token that was signed here, and three that are of no use', async () => {
  const { access_token } = await (await token.$post({ form: { username: 'johndoe' } })).json()
  assert.deepEqual(await (await ask(access_token)).json(), { username: 'johndoe' })
  const expired = await sign({ sub: 'a', exp: 1 }, 'fake-super-secret-signature', 'HS256')
  const foreign = await sign({ sub: 'a' }, 'another secret', 'HS256')
  for (const token of [expired, foreign, 'x']) assert.equal((await ask(token)).status, 401)
})
