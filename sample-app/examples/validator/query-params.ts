// Query parameters with defaults.
// $ curl '/items/?skip=1&limit=1'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { page } from '../items.ts'
import { integer } from './path-params-int.ts'

// A value in `v.optional` may be absent: its second argument, as it would be sent, replaces it.
const Page = v.object({ skip: v.optional(integer, '0'), limit: v.optional(integer, '10') })

export default new Hono().get('/items/', valid('query', Page), complete, c => {
  return c.json(page(c.req.valid('query')))
})
