import { Hono } from 'hono'
import * as v from 'valibot'
import { ask, dependency } from '../../ask/ask.ts'

const queryExtractor = dependency(
  { query: { q: v.nullish(v.string(), null) } },
  ({ query }) => query.q,
)

// What a dependency needs runs before it: the query if there is one, else what the cookie remembers
// of the last.
const queryOrCookie = dependency(
  { needs: { q: queryExtractor }, cookie: { last_query: v.nullish(v.string(), null) } },
  ({ q, cookie }) => q || cookie.last_query,
)

const inputs = ask({ path: { item_id: v.string() }, needs: { q_or_cookie: queryOrCookie } })

export const app = new Hono().get('/items/:item_id', inputs, c =>
  c.json({ q_or_cookie: c.var.q_or_cookie }),
)

export const about = 'A dependency of a dependency.'
export const request = '--cookie last_query=shoes /items/1'
