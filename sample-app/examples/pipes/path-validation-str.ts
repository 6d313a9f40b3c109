// Length and pattern of a path parameter.
// $ curl '/items/A'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

// A character is a code point, so an emoji is one; `v.minLength` would count it as two. If a text
// breaks several rules, only the first is reported.
const ItemId = v.pipe(v.string(), v.minCodePoints(2), v.maxCodePoints(10), v.regex(/^[a-z]+$/))
const Param = v.object({ item_id: ItemId })

export default new Hono().get('/items/:item_id', valid('param', Param), complete, c => {
  return c.json(c.req.valid('param'))
})
