// A cookie with a pattern and a length; setting and deleting one.
// $ curl --cookie session-id=abc123 '/items/'
import { Hono } from 'hono'
import { deleteCookie, setCookie } from 'hono/cookie'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

const text = v.pipe(v.string(), v.maxCodePoints(32), v.regex(/^[a-z0-9]+$/))
const Cookies = v.object({ 'session-id': v.optional(text, 'guest') })

export const documents = { 'DELETE /session/': { answers: { 204: undefined } } }

export default new Hono()
  .get('/items/', valid('cookie', Cookies), complete, c => {
    return c.json({ session: c.req.valid('cookie')['session-id'] })
  })
  // Out of the reach of scripts, over HTTPS only, and not with requests of other sites.
  .post('/session/', c => {
    const options = { httpOnly: true, secure: true, sameSite: 'Strict', maxAge: 3600 } as const
    setCookie(c, 'session-id', 'abc123', options)
    return c.json({ session: 'abc123' })
  })
  .delete('/session/', c => {
    deleteCookie(c, 'session-id')
    return c.body(null, 204)
  })
