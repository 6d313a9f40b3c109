import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'

// A schema without `v.optional` is required. `?needy=` is there, and empty: to refuse that, too,
// pipe it into `v.minCodePoints(1)`.
const inputs = ask({ path: { item_id: v.string() }, query: { needy: v.string() } })

export const app = new Hono().get('/items/:item_id', inputs, c =>
  c.json({ ...c.var.path, ...c.var.query }),
)

export const about = 'A query parameter that must not be absent.'
export const request = '/items/foo'
