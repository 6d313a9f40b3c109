// A token that is signed and expires.
// $ curl --data username=johndoe '/token'
import { type Context, Hono } from 'hono'
import { env } from 'hono/adapter'
import { createMiddleware } from 'hono/factory'
import { type JwtVariables, jwt, sign } from 'hono/jwt'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

const secretOf = (c: Context) =>
  env<{ SAMPLE_JWT_SECRET?: string }>(c).SAMPLE_JWT_SECRET || 'fake-super-secret-signature'

// A token is untrusted until `jwt` has checked its signature, by one algorithm, and its time.
const subject = createMiddleware<{ Variables: JwtVariables<{ sub: string }> }>((c, next) =>
  jwt({ secret: secretOf(c), alg: 'HS256', realm: 'Sample application' })(c, next),
)

const security = { JWT: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } }
const answers = { 200: v.unknown(), 401: 'text/plain' }
export const documents = { 'GET /me': { answers, security } }

// `security` decides who gets a token; this example, who is asking. `exp` is in seconds.
export default new Hono()
  .post('/token', valid('form', v.object({ username: v.string() })), complete, async c => {
    const exp = Math.floor(Date.now() / 1000) + 15 * 60
    const payload = { sub: c.req.valid('form').username, exp }
    return c.json({ access_token: await sign(payload, secretOf(c), 'HS256') })
  })
  .get('/me', subject, c => c.json({ username: c.var.jwtPayload.sub }))
