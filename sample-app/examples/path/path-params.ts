import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'

export const app = new Hono()

// Hono writes a path parameter as `:name`. `ask` is middleware: it stands before the handler, reads
// what its Valibot schemas declare, and leaves the values in `c.var`, with their types.
// Text stays text: `/items/5` has the item `"5"`.
const one = ask({ path: { item_id: v.string() } })
app.get('/items/:item_id', one, c => c.json({ item_id: c.var.path.item_id }))

const both = ask({ path: { item_id: v.string(), user_id: v.string() } })
app.get('/items/:item_id/:user_id', both, c => c.json(c.var.path))

export const about = 'Parts of the path as parameters.'
export const request = '/items/5/alice'
