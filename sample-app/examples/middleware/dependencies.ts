// What several paths share, declared once.
// $ curl '/users/?q=foo&limit=30'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { integer } from '../validator/path-params-int.ts'

// Middleware is a value: each route that names this constant has its values, with their types.
export const Common = v.object({
  q: v.nullish(v.string(), null),
  skip: v.optional(integer, '0'),
  limit: v.optional(integer, '100'),
})
const common = [valid('query', Common), complete] as const

export default new Hono()
  .get('/items/', ...common, c => c.json(c.req.valid('query')))
  .get('/users/', ...common, c => c.json(c.req.valid('query')))
