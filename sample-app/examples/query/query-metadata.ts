import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'
import { ITEMS } from '../items.ts'

const text = v.pipe(v.string(), v.minCodePoints(3), v.maxCodePoints(50), v.regex(/^fixedquery$/))

// Metadata stands around the whole: it is about the parameter, whether there is a text or not.
// `alias` is its name outside, which could not be a name in a program.
const outside = { alias: 'item-query', deprecated: true }
const q = v.pipe(v.nullish(text, null), v.title('Query string'), v.metadata(outside))

export const app = new Hono().get('/items/', ask({ query: { q } }), c => {
  return c.json({ q: c.var.query.q, items: ITEMS })
})

export const about = 'An alias, a title, a pattern, a deprecation.'
export const request = '/items/?item-query=fixedquery'
