import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'
import { float } from '../path/path-validation-float.ts'

// A price that is not finite could not be echoed: JSON has no infinity.
const money = v.pipe(float, v.finite())

// Keys that are not declared are dropped. The title names the schema in the documentation.
// `name` has a default and may not be null; `v.nullish` may be both absent and null.
const Item = v.pipe(
  v.object({
    name: v.optional(v.string(), 'Unnamed item'),
    description: v.nullish(v.string(), null),
    price: money,
    tax: v.nullish(money, null),
  }),
  v.title('Item'),
  v.examples([{ name: 'Foo', description: null, price: 50.2, tax: null }]),
)

// `v.InferOutput<typeof Item>` is the type of `c.var.body`.
export const app = new Hono().post('/items/', ask({ body: Item, answers: { 200: Item } }), c => {
  return c.json(c.var.body)
})

export const about = 'A JSON body, checked field by field.'
export const request = `--json '{"name":"Foo","price":50.2}' /items/`
