// A name and a password that the browser asks for, and one fixed token for programs.
// $ curl --user johndoe:secret '/me'
import { Hono } from 'hono'
import { env } from 'hono/adapter'
import { basicAuth } from 'hono/basic-auth'
import { bearerAuth } from 'hono/bearer-auth'
import { timingSafeEqual } from 'hono/utils/buffer'
import { isPassword } from './users.ts'

// The users are in `SAMPLE_USERS`. Every request has the password and costs a check of it.
const person = basicAuth({
  realm: 'Sample application',
  invalidUserMessage: { detail: 'Incorrect username or password' },
  verifyUser: (username, password, c) => isPassword(c, username, password),
  onAuthSuccess: (c, username) => c.set('username', username),
})

// The token is read with each request, because some runtimes have no environment before one.
const program = bearerAuth({
  noAuthenticationHeader: { message: { detail: 'Not authenticated' } },
  invalidAuthenticationHeader: { message: { detail: 'Not a bearer token' } },
  invalidToken: { message: { detail: 'Invalid token' } },
  verifyToken: (token, c) => {
    const { SAMPLE_X_TOKEN } = env<{ SAMPLE_X_TOKEN?: string }>(c)
    return timingSafeEqual(token, SAMPLE_X_TOKEN || 'fake-super-secret-token')
  },
})

export const documents = {
  'GET /me': { errors: [401], security: { Basic: { type: 'http', scheme: 'basic' } } },
  'GET /status': { errors: [400, 401], security: { Token: { type: 'http', scheme: 'bearer' } } },
}

export default new Hono<{ Variables: { username: string } }>()
  .get('/me', person, c => c.json({ username: c.var.username }))
  .get('/status', program, c => c.json({ status: 'ok' }))
