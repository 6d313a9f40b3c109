// A path parameter with another name inside.
// $ curl '/items/5'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

// A schema has the names that clients see. A last step gives the program its own names.
const Param = v.pipe(
  v.object({ 'item-id': v.pipe(v.string(), v.metadata({ deprecated: true })) }),
  v.transform(({ 'item-id': itemId }) => ({ itemId })),
)

export default new Hono().get('/items/:item-id', valid('param', Param), complete, c => {
  return c.json({ item_id: c.req.valid('param').itemId })
})
