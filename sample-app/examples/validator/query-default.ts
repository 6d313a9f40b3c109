// A default other than null.
// $ curl '/items/'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { ITEMS } from '../items.ts'

// The parameter is optional and its value is never null. A default replaces an absent value before
// the rules inside apply, and the documentation shows it.
const Query = v.object({ q: v.optional(v.pipe(v.string(), v.minCodePoints(3)), 'fixedquery') })

export default new Hono().get('/items/', valid('query', Query), complete, c => {
  return c.json({ q: c.req.valid('query').q, items: ITEMS })
})
