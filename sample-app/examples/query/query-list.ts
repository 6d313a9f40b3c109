import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'

// Where the schema is an array, every value of a repeated parameter counts, in this order:
// `?q=foo&q=bar` is a list of two, `?q=foo` a list of one. Otherwise the last value counts.
const q = v.nullish(v.array(v.string()), null)

export const app = new Hono().get('/items/', ask({ query: { q } }), c => c.json(c.var.query))

export const about = 'A parameter that is repeated.'
export const request = '/items/?q=foo&q=bar'
