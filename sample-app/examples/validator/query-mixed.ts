// Path and query together; yes and no.
// $ curl '/users/1/items/foo?short=yes'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { integer } from './path-params-int.ts'

// Yes or no in twelve spellings, in any letter case. Any other is refused: a typo is not a no.
const truthy = ['1', 'true', 't', 'yes', 'y', 'on']
const falsy = ['0', 'false', 'f', 'no', 'n', 'off']
const words = 'Input should be a valid boolean, unable to interpret input | bool_parsing'
const flag = v.pipe(v.string(), v.parseBoolean({ truthy, falsy }, words))

const Param = v.object({ user_id: integer, item_id: v.string() })
const Query = v.object({ q: v.optional(v.string()), short: v.optional(flag, 'no') })
const description = 'This is an amazing item that has a long description'

// Both parts are checked, even if the first is wrong: one answer names all problems.
const checks = [valid('param', Param), valid('query', Query), complete] as const

export default new Hono().get('/users/:user_id/items/:item_id', ...checks, c => {
  const { user_id, item_id } = c.req.valid('param')
  const { q, short } = c.req.valid('query')
  return c.json({ item_id, owner_id: user_id, ...(q && { q }), ...(!short && { description }) })
})
