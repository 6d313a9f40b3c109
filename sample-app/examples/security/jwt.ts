// A token that is signed and expires.
// $ curl --data username=johndoe '/token'
import { type Context, Hono } from 'hono'
import { env } from 'hono/adapter'
import { createMiddleware } from 'hono/factory'
import { sign, verify } from 'hono/jwt'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

const secretOf = (c: Context) =>
  env<{ SAMPLE_JWT_SECRET?: string }>(c).SAMPLE_JWT_SECRET || 'fake-super-secret-signature'

// A token is untrusted until `verify` has checked its signature, by one algorithm, and its time.
const subject = createMiddleware<{ Variables: { subject: unknown } }>(async (c, next) => {
  const [, token = ''] = /^Bearer (.+)$/i.exec(c.req.header('Authorization') ?? '') ?? []
  try {
    const { sub } = await verify(token, secretOf(c), 'HS256')
    c.set('subject', sub)
  } catch {
    const challenge = { 'WWW-Authenticate': 'Bearer error="invalid_token"' }
    return c.json({ detail: 'Invalid or expired token' }, 401, challenge)
  }
  await next()
})

const security = { JWT: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } }
export const documents = { 'GET /me': { errors: [401], security } }

// `security` decides who gets a token; this example, who is asking. `exp` is in seconds.
export default new Hono()
  .post('/token', valid('form', v.object({ username: v.string() })), complete, async c => {
    const exp = Math.floor(Date.now() / 1000) + 15 * 60
    const payload = { sub: c.req.valid('form').username, exp }
    return c.json({ access_token: await sign(payload, secretOf(c), 'HS256') })
  })
  .get('/me', subject, c => c.json({ username: String(c.var.subject) }))
