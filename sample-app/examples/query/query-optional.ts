import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'

const inputs = ask({ path: { item_id: v.string() }, query: { q: v.optional(v.string()) } })

// TypeScript knows that `q` is a string or undefined. Here `?q=` counts as absent, too.
export const app = new Hono().get('/items/:item_id', inputs, c => {
  const { item_id } = c.var.path
  const { q } = c.var.query
  return c.json(q ? { item_id, q } : { item_id })
})

export const about = 'A query parameter that may be absent.'
export const request = '/items/foo?q=news'
