// A name and a password that the browser asks for.
// $ curl --user johndoe:secret '/me'
import { Hono } from 'hono'
import { basicAuth } from 'hono/basic-auth'
import { isPassword } from './users.ts'

// The users are in `SAMPLE_USERS`. Every request has the password and costs a check of it.
const auth = basicAuth({
  realm: 'Sample application',
  invalidUserMessage: { detail: 'Incorrect username or password' },
  verifyUser: (username, password, c) => isPassword(c, username, password),
  onAuthSuccess: (c, username) => c.set('username', username),
})

const security = { Basic: { type: 'http', scheme: 'basic' } }
export const documents = { 'GET /me': { errors: [401], security } }

export default new Hono<{ Variables: { username: string } }>().get('/me', auth, c => {
  return c.json({ username: c.var.username })
})
