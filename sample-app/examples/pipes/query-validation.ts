// A longest length, in characters.
// $ curl '/items/?q=fixedquery'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { ITEMS } from '../items.ts'

// `v.nullish` with null as its default: the value is null when absent, and JSON shows that. The
// rules stand inside, because they are for the text alone.
const Query = v.object({ q: v.nullish(v.pipe(v.string(), v.maxCodePoints(50)), null) })

export default new Hono().get('/items/', valid('query', Query), complete, c => {
  return c.json({ q: c.req.valid('query').q, items: ITEMS })
})
