import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'

export const app = new Hono()

const inputs = ask({
  path: { item_id: v.string() },
  query: { q: v.optional(v.string()) },
})

// TypeScript knows that `q` is a string or undefined. Here `?q=` counts as absent, too.
app.get('/items/:item_id', inputs, c => {
  const { item_id } = c.var.path
  const { q } = c.var.query
  return c.json(q ? { item_id, q } : { item_id })
})

export const about = [
  'query-optional',
  'A query parameter that may be absent.',
  '/items/foo?q=news',
]
