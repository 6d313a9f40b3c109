// Checks for every path of an app.
// $ curl --header 'X-Token: fake-super-secret-token' --header 'X-Key: fake-super-secret-key' '/items/'
import { Hono } from 'hono'
import { env } from 'hono/adapter'
import { createMiddleware } from 'hono/factory'
import { timingSafeEqual } from 'hono/utils/buffer'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

const Headers = v.object({ 'x-token': v.string(), 'x-key': v.string() })

// Middleware that returns an answer ends the request. `env` finds secrets on any runtime, and they
// are compared in constant time. A header that is absent is left to `complete`, which names all.
const demand = (name: string, variable: string, demo: string) =>
  createMiddleware(async (c, next) => {
    const expected = env<Record<string, string>>(c)[variable] || demo
    const sent = c.req.header(name) ?? expected
    if (await timingSafeEqual(sent, expected)) return next()
    return c.json({ detail: `${name} header invalid` }, 400)
  })

const token = demand('X-Token', 'SAMPLE_X_TOKEN', 'fake-super-secret-token')
const key = demand('X-Key', 'SAMPLE_X_KEY', 'fake-super-secret-key')

// `use` asks it of every route that follows.
export default new Hono()
  .use(valid('header', Headers), token, key, complete)
  .get('/items/', c => c.json([{ item: 'Portal Gun' }, { item: 'Plumbus' }]))
  .get('/users/', c => c.json([{ username: 'Rick' }, { username: 'Morty' }]))
