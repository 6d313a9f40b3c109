import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'
import { integer } from './path-params-int.ts'

// Rules are the steps of a Valibot pipe, from left to right; the first one that is broken is
// reported. A title goes into the documentation.
const ItemId = v.pipe(integer, v.gtValue(0), v.maxValue(1000), v.title('The ID of the item to get'))

const inputs = ask({ path: { item_id: ItemId }, query: { q: v.optional(v.string()) } })

export const app = new Hono().get('/items/:item_id', inputs, c => {
  return c.json({ item_id: c.var.path.item_id, q: c.var.query.q || undefined })
})

export const about = 'Bounds and a title for a path parameter.'
export const request = '/items/1001'
