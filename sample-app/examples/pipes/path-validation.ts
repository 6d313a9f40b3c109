// Bounds and a title for a path parameter.
// $ curl '/items/1001'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { integer } from '../validator/path-params-int.ts'

// Rules are more steps of a pipe. The first broken one is reported, and no other of the same value:
// a text that is no number has no bounds. A title is for the documentation.
const ItemId = v.pipe(integer, v.gtValue(0), v.maxValue(1000), v.title('The ID of the item to get'))
const param = valid('param', v.object({ item_id: ItemId }))
const query = valid('query', v.object({ q: v.optional(v.string()) }))

export default new Hono().get('/items/:item_id', param, query, complete, c => {
  return c.json({ ...c.req.valid('param'), q: c.req.valid('query').q || undefined })
})
