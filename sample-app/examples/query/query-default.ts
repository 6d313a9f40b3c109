import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'
import { ITEMS } from '../items.ts'

// The parameter is optional and its value is never null. The default is shown in the documentation.
const q = v.optional(v.pipe(v.string(), v.minCodePoints(3)), 'fixedquery')

export const app = new Hono().get('/items/', ask({ query: { q } }), c => {
  return c.json({ q: c.var.query.q, items: ITEMS })
})

export const about = 'A default other than null.'
export const request = '/items/'
