import { Hono } from 'hono'
import { deleteCookie, setCookie } from 'hono/cookie'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'

export const app = new Hono()

// The same rules and metadata as everywhere: a pattern, a length, and a name outside.
const text = v.pipe(v.string(), v.maxCodePoints(32), v.regex(/^[a-z0-9]+$/))
const session = v.pipe(v.optional(text, 'guest'), v.metadata({ alias: 'session-id' }))

app.get('/items/', ask({ cookie: { session } }), c => c.json(c.var.cookie))

// Hono's helpers write the `Set-Cookie` header.
app.post('/session/', c => {
  setCookie(c, 'session-id', 'abc123', { httpOnly: true, sameSite: 'Strict' })
  return c.json({ session: 'abc123' })
})

app.delete('/session/', c => {
  deleteCookie(c, 'session-id')
  return c.body(null, 204)
})

export const about = 'A cookie with an alias, a pattern and a length; setting and deleting one.'
export const request = '--cookie session-id=abc123 /items/'
