// One fixed token for programs.
// $ curl --header 'Authorization: Bearer fake-super-secret-token' '/status'
import { Hono } from 'hono'
import { env } from 'hono/adapter'
import { bearerAuth } from 'hono/bearer-auth'
import { timingSafeEqual } from 'hono/utils/buffer'

// The token is read with each request, because some runtimes have no environment before one.
const auth = bearerAuth({
  noAuthenticationHeader: { message: { detail: 'Not authenticated' } },
  invalidAuthenticationHeader: { message: { detail: 'Not a bearer token' } },
  invalidToken: { message: { detail: 'Invalid token' } },
  verifyToken: (token, c) => {
    const { SAMPLE_X_TOKEN } = env<{ SAMPLE_X_TOKEN?: string }>(c)
    return timingSafeEqual(token, SAMPLE_X_TOKEN || 'fake-super-secret-token')
  },
})

const security = { Token: { type: 'http', scheme: 'bearer' } }
export const documents = { 'GET /status': { errors: [400, 401], security } }

export default new Hono().get('/status', auth, c => c.json({ status: 'ok' }))
