// An alias, a title, a pattern, a deprecation.
// $ curl '/items/?item-query=fixedquery'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { ITEMS } from '../items.ts'

const text = v.pipe(v.string(), v.minCodePoints(3), v.maxCodePoints(50), v.regex(/^fixedquery$/))
// Metadata stands around the whole: it is about the parameter, whether there is a text or not.
const q = v.pipe(v.nullish(text, null), v.title('Query string'), v.metadata({ deprecated: true }))
// A schema has the names that clients see. A last step gives the program its own names.
const Query = v.pipe(
  v.object({ 'item-query': q }),
  v.transform(({ 'item-query': q }) => ({ q })),
)
// The same goes for the path.
const Param = v.pipe(
  v.object({ 'item-id': v.pipe(v.string(), v.metadata({ deprecated: true })) }),
  v.transform(({ 'item-id': item_id }) => ({ item_id })),
)

export default new Hono()
  .get('/items/', valid('query', Query), complete, c => {
    return c.json({ q: c.req.valid('query').q, items: ITEMS })
  })
  .get('/items/:item-id', valid('param', Param), complete, c => c.json(c.req.valid('param')))
