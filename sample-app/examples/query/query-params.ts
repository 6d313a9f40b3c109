import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'
import { slice } from '../items.ts'
import { integer } from '../path/path-params-int.ts'

// What `v.optional` wraps may be absent; its second argument takes the place then, so the handler
// always has a number. Whatever is wrong with either parameter goes into the same answer.
const inputs = ask({ query: { skip: v.optional(integer, 0), limit: v.optional(integer, 10) } })

export const app = new Hono().get('/items/', inputs, c => {
  const { skip, limit } = c.var.query
  return c.json(slice(skip, limit))
})

export const about = 'Query parameters with defaults.'
export const request = '/items/?skip=1&limit=1'
