import { Hono } from 'hono'
import * as v from 'valibot'
import { ask, dependency } from '../../ask/ask.ts'

const text = v.nullish(v.string(), null)
const queryExtractor = dependency({ query: { q: text } }, ({ query }) => query.q)

// What a dependency needs runs before it: the query counts if there is one, else the cookie does.
const queryOrCookie = dependency(
  { needs: { q: queryExtractor }, cookie: { last_query: text } },
  ({ q, cookie }) => q || cookie.last_query,
)

const inputs = ask({ path: { item_id: v.string() }, needs: { q_or_cookie: queryOrCookie } })

export const app = new Hono().get('/items/:item_id', inputs, c => {
  return c.json({ q_or_cookie: c.var.q_or_cookie })
})

export const about = 'A dependency of a dependency.'
export const request = '--cookie last_query=shoes /items/1'
