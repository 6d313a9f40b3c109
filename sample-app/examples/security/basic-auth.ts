// A name and a password that the browser asks for.
// $ curl --user johndoe:secret '/me'
import { Hono } from 'hono'
import { env } from 'hono/adapter'
import { basicAuth } from 'hono/basic-auth'
import * as v from 'valibot'
import { DECOY, verifyPassword } from './password.ts'
import { readUsers } from './users.ts'

// The browser sends them with every request, so each of them costs a check of the password.
const auth = basicAuth({
  realm: 'Sample application',
  invalidUserMessage: { detail: 'Incorrect username or password' },
  verifyUser: (username, password, c) => {
    const users = readUsers(env<{ SAMPLE_USERS?: string }>(c).SAMPLE_USERS)
    return verifyPassword(password, users.get(username)?.hashed_password ?? DECOY)
  },
  onAuthSuccess: (c, username) => c.set('username', username),
})

// For the documentation.
const answers = { 200: v.object({ username: v.string() }), 401: v.object({ detail: v.string() }) }
const security = { Basic: { type: 'http', scheme: 'basic' } }
export const documents = { 'GET /me': { answers, security } }

export default new Hono<{ Variables: { username: string } }>().get('/me', auth, c => {
  return c.json({ username: c.var.username })
})
