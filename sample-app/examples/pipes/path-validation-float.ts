// A number that need not be whole, and its bounds.
// $ curl '/items/0.4'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

// With a fraction and an exponent (`.5`, `5.`, `1e1`) or without.
const words = 'Input should be a valid number, unable to parse string as a number | float_parsing'
const decimal = v.regex(/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i, words)
export const float = v.pipe(v.string(), v.trim(), decimal, v.toNumber())

const Param = v.object({ item_id: v.pipe(float, v.ltValue(10.5), v.minValue(0.5)) })

export default new Hono().get('/items/:item_id', valid('param', Param), complete, c => {
  return c.json(c.req.valid('param'))
})
