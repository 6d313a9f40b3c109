// A JSON body, checked field by field.
// $ curl --json '{"name":"Foo","price":50.2}' '/items/'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { float } from '../pipes/path-validation-float.ts'

// A price is a number, or a text that is one. Among several alternatives, the one that came
// furthest reports the problem. JSON could not answer with a number that is not finite.
const flag = v.pipe(v.boolean(), v.toNumber())
const finite = v.finite('Input should be a finite number | finite_number')
const price = v.pipe(v.union([v.number(), float, flag]), finite)

// Undeclared keys are dropped. `name` may be absent but not null; values in `v.nullish` may be
// both. Title and example are for the documentation.
const Item = v.pipe(
  v.object({
    name: v.optional(v.string(), 'Unnamed item'),
    description: v.nullish(v.string(), null),
    price,
    tax: v.nullish(price, null),
  }),
  v.title('Item'),
  v.examples([{ name: 'Foo', description: null, price: 50.2, tax: null }]),
)

export default new Hono().post('/items/', valid('json', Item), complete, c => {
  return c.json(c.req.valid('json'))
})
