// A parameter that must be a whole number.
// $ curl '/items/5?q=news'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

// A pipe has steps, from left to right: a text, less blanks around it, that has digits only, is
// made a number, as long as a number can be exact. `v.toNumber()` alone would take `0x10`, `1e3`
// and ``. The message `int_parsing` is the name of one in `valid/problem.ts`.
const digits = v.regex(/^[+-]?\d+$/, 'int_parsing')
const integer = v.pipe(v.string(), v.trim(), digits, v.toNumber(), v.safeInteger())

const Param = v.object({ item_id: integer })
const Query = v.object({ q: v.optional(v.string()) })

// `/items/5` has the number 5; `/items/foo` is refused before the handler runs.
const app = new Hono().get(
  '/items/:item_id',
  valid('param', Param),
  valid('query', Query),
  complete,
  c => {
    const { item_id } = c.req.valid('param')
    // An empty `?q=` is left out like an absent one: JSON has no undefined.
    return c.json({ item_id, q: c.req.valid('query').q || undefined })
  },
)

export default app
