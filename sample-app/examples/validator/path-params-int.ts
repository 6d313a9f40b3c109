// A parameter that must be a whole number.
// $ curl '/items/5?q=news'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

// A pipe has steps, from left to right: a text, without blanks around it, that has digits only,
// becomes a number, if a number can be that exact. `v.toNumber()` alone would take `0x10`, `1e3`
// and ``. The message has its type behind a bar. Other examples import `integer` from here.
const words = 'Input should be a valid integer, unable to parse string as an integer | int_parsing'
const digits = v.regex(/^[+-]?\d+$/, words)
export const integer = v.pipe(v.string(), v.trim(), digits, v.toNumber(), v.safeInteger())

const param = valid('param', v.object({ item_id: integer }))
const query = valid('query', v.object({ q: v.optional(v.string()) }))

// An empty `?q=` is left out of the answer like an absent one: JSON has no undefined.
export default new Hono().get('/items/:item_id', param, query, complete, c => {
  return c.json({ ...c.req.valid('param'), q: c.req.valid('query').q || undefined })
})
