import { Hono } from 'hono'
import * as v from 'valibot'
import { ask, dependency } from '../../ask/ask.ts'
import { integer } from '../path/path-params-int.ts'

export const app = new Hono()

// A dependency has inputs of its own, and makes one value of them before the handler runs.
const query = {
  q: v.nullish(v.string(), null),
  skip: v.optional(integer, 0),
  limit: v.optional(integer, 100),
}
const commonParameters = dependency({ query }, values => values.query)

// Who needs it finds the value in `c.var` under the name it gave. Two routes share the middleware.
const withCommon = ask({ needs: { common: commonParameters } })

app.get('/items/', withCommon, c => c.json(c.var.common))
app.get('/users/', withCommon, c => c.json(c.var.common))

export const about = 'What several paths share, declared once.'
export const request = '/users/?q=foo&limit=30'
