// A token that is signed and expires.
// $ curl --data username=johndoe '/token'
import { Hono } from 'hono'
import { env } from 'hono/adapter'
import { createMiddleware } from 'hono/factory'
import { sign, verify } from 'hono/jwt'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

const MINUTES = 15
type Bindings = { SAMPLE_JWT_SECRET?: string }
const secretOf = (c: Parameters<typeof env>[0]) =>
  env<Bindings>(c).SAMPLE_JWT_SECRET || 'fake-super-secret-signature'

// `security` decides who gets a token; this example, who is asking. `exp` is in seconds.
const Login = v.object({ username: v.string() })

// A token is untrusted input until `verify` has checked its signature, with the one algorithm that
// was expected, and its time.
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

// For the documentation.
const answers = { 200: Login, 401: v.object({ detail: v.string() }) }
const security = { JWT: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } }
export const documents = { 'GET /me': { answers, security } }

export default new Hono()
  .post('/token', valid('form', Login), complete, async c => {
    const exp = Math.floor(Date.now() / 1000) + MINUTES * 60
    const payload = { sub: c.req.valid('form').username, exp }
    return c.json({ access_token: await sign(payload, secretOf(c), 'HS256') })
  })
  .get('/me', subject, c => c.json({ username: String(c.var.subject) }))
