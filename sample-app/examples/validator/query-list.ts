// A parameter that is repeated.
// $ curl '/items/?q=foo&q=bar'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

// If the schema is an array, every value of a repeated parameter counts, in this order:
// `?q=foo&q=bar` is a list of two, `?q=foo` a list of one. Elsewhere the last value counts.
const Query = v.object({ q: v.nullish(v.array(v.string()), null) })

export default new Hono().get('/items/', valid('query', Query), complete, c => {
  return c.json(c.req.valid('query'))
})
