// A cookie.
// $ curl --cookie ads_id=abc '/items/'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

// A cookie is declared like a query parameter. The next example answers with one.
const Cookies = v.object({ ads_id: v.nullish(v.string(), null) })

export default new Hono().get('/items/', valid('cookie', Cookies), complete, c => {
  return c.json(c.req.valid('cookie'))
})
