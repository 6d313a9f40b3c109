// Cookies: read, checked, set and deleted.
// $ curl --cookie ads_id=abc '/items/'
import { Hono } from 'hono'
import { deleteCookie, setCookie } from 'hono/cookie'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

// A cookie is declared like a query parameter, with the same rules.
const Ads = v.object({ ads_id: v.nullish(v.string(), null) })
const id = v.pipe(v.string(), v.maxCodePoints(32), v.regex(/^[a-z0-9]+$/))
const Session = v.object({ 'session-id': v.optional(id, 'guest') })

export const documents = { 'DELETE /session/': { answers: { 204: undefined } } }

export default new Hono()
  .get('/items/', valid('cookie', Ads), complete, c => c.json(c.req.valid('cookie')))
  .get('/session/', valid('cookie', Session), complete, c => c.json(c.req.valid('cookie')))
  // Out of the reach of scripts, over HTTPS only, and not with requests of other sites.
  .post('/session/', c => {
    const options = { httpOnly: true, secure: true, sameSite: 'Strict', maxAge: 3600 } as const
    setCookie(c, 'session-id', 'abc123', options)
    return c.json({ 'session-id': 'abc123' })
  })
  .delete('/session/', c => {
    deleteCookie(c, 'session-id')
    return c.body(null, 204)
  })
