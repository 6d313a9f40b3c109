import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'

// A cookie is declared like a query parameter and comes as the client sent it. To answer with one
// there is Hono's `setCookie`: see `cookie-options`.
const inputs = ask({ cookie: { ads_id: v.nullish(v.string(), null) } })

export const app = new Hono().get('/items/', inputs, c => c.json(c.var.cookie))

export const about = 'A cookie.'
export const request = '--cookie ads_id=abc /items/'
