// A query parameter that must not be absent.
// $ curl '/items/foo'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

// `valid` is middleware: it checks one part of a request with a schema of Valibot. `complete` ends
// the request with 422 if anything was wrong. `c.req.valid` has the values, with their types.
const Query = v.object({ needy: v.string() })

// `?needy=` is there, and empty: to refuse that, too, pipe it into `v.nonEmpty()`.
export default new Hono().get('/items/:item_id', valid('query', Query), complete, c => {
  return c.json({ item_id: c.req.param('item_id'), needy: c.req.valid('query').needy })
})
