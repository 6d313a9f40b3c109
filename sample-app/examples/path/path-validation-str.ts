import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'

// A character is a code point, so an emoji is one; `v.minLength` would count it as two. Of a text
// that breaks several rules only the first is reported.
const ItemId = v.pipe(v.string(), v.minCodePoints(2), v.maxCodePoints(10), v.regex(/^[a-z]+$/))

export const app = new Hono().get('/items/:item_id', ask({ path: { item_id: ItemId } }), c => {
  return c.json({ item_id: c.var.path.item_id })
})

export const about = 'Length and pattern of a path parameter.'
export const request = '/items/A'
