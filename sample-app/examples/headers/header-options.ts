import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'

// Alias, pattern, length and title of a header. An alias is written as it is sent.
const hex = v.pipe(v.string(), v.minCodePoints(4), v.maxCodePoints(16), v.regex(/^[0-9a-f]+$/))
const trace = v.pipe(hex, v.title('Where it comes from'), v.metadata({ alias: 'X-Trace-Id' }))

// A header that is repeated is a list, like a query parameter.
const list = v.optional(v.array(v.string()), [])
const tags = v.pipe(list, v.metadata({ alias: 'X-Tag', deprecated: true }))

export const app = new Hono().get('/items/', ask({ header: { trace, tags } }), c => {
  const { trace, tags } = c.var.header
  c.header('X-Trace-Id', trace)
  return c.json({ trace, tags })
})

export const about = 'Headers with an alias, a pattern and a length; a list of headers.'
export const request = `--header 'X-Trace-Id: 00c0ffee' --header 'X-Tag: a' /items/`
