import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'
import { ITEMS } from '../items.ts'

// `v.nullish` with null as its default: the value is null when absent, and JSON shows that.
// The rules stand inside, because they are for the text alone.
const q = v.nullish(v.pipe(v.string(), v.maxCodePoints(50)), null)

export const app = new Hono().get('/items/', ask({ query: { q } }), c => {
  return c.json({ q: c.var.query.q, items: ITEMS })
})

export const about = 'A longest length, in characters.'
export const request = '/items/?q=fixedquery'
