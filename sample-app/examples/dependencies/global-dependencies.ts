import { type Context, Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { timingSafeEqual } from 'hono/utils/buffer'
import * as v from 'valibot'
import { ask, dependency } from '../../ask/ask.ts'

/** What the server has to be told, by variables of its environment. */
const secret = v.pipe(v.string(), v.trim(), v.minLength(1))
export const settings = v.object({
  SAMPLE_X_TOKEN: v.optional(secret, 'fake-super-secret-token'),
  SAMPLE_X_KEY: v.optional(secret, 'fake-super-secret-key'),
})

type Env = { Bindings: v.InferOutput<typeof settings> }

// `c.env` has the settings.
export const app = new Hono<Env>()

// An HTTPException of a dependency ends the request, and nothing after it runs. Secrets are
// compared in a time that tells nothing about where they differ.
async function demand(given: string, expected: string, name: string) {
  if (await timingSafeEqual(given, expected)) return
  throw new HTTPException(400, { message: `${name} header invalid` })
}

const token = dependency({ header: { x_token: v.string() } }, ({ header }, c: Context<Env>) => {
  return demand(header.x_token, c.env.SAMPLE_X_TOKEN, 'X-Token')
})

const key = dependency({ header: { x_key: v.string() } }, ({ header }, c: Context<Env>) => {
  return demand(header.x_key, c.env.SAMPLE_X_KEY, 'X-Key')
})

// `app.use` asks it of every route that follows.
app.use(ask({ needs: { token, key } }))

app.get('/items/', c => c.json([{ item: 'Portal Gun' }, { item: 'Plumbus' }]))
app.get('/users/', c => c.json([{ username: 'Rick' }, { username: 'Morty' }]))

export const about = 'Checks for every path of an app.'
export const request = `--header 'X-Token: fake-super-secret-token' \
--header 'X-Key: fake-super-secret-key' /items/`
