import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'
import { ITEMS } from '../items.ts'

export const app = new Hono()

// The parameter is optional and its value is never null. The default is shown in the documentation.
const q = v.optional(v.pipe(v.string(), v.minCodePoints(3)), 'fixedquery')

app.get('/items/', ask({ query: { q } }), c => {
  return c.json({ q: c.var.query.q, items: ITEMS })
})

export const about = ['query-default', 'A default other than null.', '/items/']
