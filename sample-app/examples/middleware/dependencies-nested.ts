// A dependency of a dependency.
// $ curl --cookie last_query=shoes '/items/1'
import { Hono } from 'hono'
import { createFactory } from 'hono/factory'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

const query = valid('query', v.object({ q: v.nullish(v.string(), null) }))
const cookie = valid('cookie', v.object({ last_query: v.nullish(v.string(), null) }))

// Middleware behind others has their results, with their types: a factory knows what came before,
// and is told which values of `c.var` are set. The query counts if there is one, else the cookie.
const factory = createFactory<{ Variables: { q_or_cookie: string | null } }>()
const queryOrCookie = factory.createHandlers(query, cookie, complete, async (c, next) => {
  c.set('q_or_cookie', c.req.valid('query').q || c.req.valid('cookie').last_query)
  await next()
})

export default new Hono().get('/items/:item_id', ...queryOrCookie, c => {
  return c.json({ q_or_cookie: c.var.q_or_cookie })
})
