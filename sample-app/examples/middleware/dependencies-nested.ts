// A dependency of a dependency.
// $ curl --cookie last_query=shoes '/items/1'
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

const Query = v.object({ q: v.nullish(v.string(), null) })
const Cookies = v.object({ last_query: v.nullish(v.string(), null) })

// Middleware behind others has their results. Its types name them: the values of `c.var` that it
// sets, and the parts of the request that were checked before.
type Before = { out: { query: v.InferOutput<typeof Query>; cookie: v.InferOutput<typeof Cookies> } }
type Sets = { Variables: { q_or_cookie: string | null } }

// The query counts if there is one, else the cookie does.
const queryOrCookie = createMiddleware<Sets, string, Before>(async (c, next) => {
  c.set('q_or_cookie', c.req.valid('query').q || c.req.valid('cookie').last_query)
  await next()
})

const checks = [valid('query', Query), valid('cookie', Cookies), complete, queryOrCookie] as const

export default new Hono().get('/items/:item_id', ...checks, c => {
  return c.json({ q_or_cookie: c.var.q_or_cookie })
})
