// A parameter that is repeated.
// $ curl '/items/?q=foo&q=bar'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

// In an array every value counts, and `?q=foo` is a list of one. Elsewhere the last value counts.
const Query = v.object({ q: v.nullish(v.array(v.string()), null) })

export default new Hono().get('/items/', valid('query', Query), complete, c => {
  return c.json(c.req.valid('query'))
})
