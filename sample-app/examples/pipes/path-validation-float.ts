// Bounds for numbers that need not be whole.
// $ curl '/items/0.4'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { float } from '../numbers.ts'

const Param = v.object({ item_id: v.pipe(float, v.ltValue(10.5), v.minValue(0.5)) })

export default new Hono().get('/items/:item_id', valid('param', Param), complete, c => {
  return c.json(c.req.valid('param'))
})
