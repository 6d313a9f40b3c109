import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'

export const app = new Hono()

// Alias, pattern and length of a header. An alias is written as it is sent.
const trace = v.pipe(
  v.string(),
  v.minCodePoints(4),
  v.maxCodePoints(16),
  v.regex(/^[0-9a-f]+$/),
  v.title('Where the request comes from'),
  v.metadata({ alias: 'X-Trace-Id' }),
)

// A header that is repeated is a list, like a query parameter.
const tags = v.pipe(
  v.optional(v.array(v.string()), []),
  v.metadata({ alias: 'X-Tag', deprecated: true }),
)

app.get('/items/', ask({ header: { trace, tags } }), c => {
  const { trace, tags } = c.var.header
  c.header('X-Trace-Id', trace)
  return c.json({ trace, tags })
})

export const about = [
  'header-options',
  'Headers with an alias, a pattern and a length; a list of headers.',
  `--header 'X-Trace-Id: 00c0ffee' --header 'X-Tag: a' --header 'X-Tag: b' /items/`,
]
