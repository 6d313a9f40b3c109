// Headers with a pattern and a length; a list of headers.
// $ curl --header 'X-Trace-Id: 00c0ffee' --header 'X-Tag: a' '/items/'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

const hex = v.pipe(v.string(), v.minCodePoints(4), v.maxCodePoints(16), v.regex(/^[0-9a-f]+$/))
const trace = v.pipe(hex, v.title('Where it comes from'))
// A header that is sent twice arrives as one with a comma: a list takes it apart again.
const tags = v.pipe(v.optional(v.array(v.string()), []), v.metadata({ deprecated: true }))
const Headers = v.object({ 'X-Trace-Id': trace, 'X-Tag': tags })

export default new Hono().get('/items/', valid('header', Headers), complete, c => {
  const { 'X-Trace-Id': trace, 'X-Tag': tags } = c.req.valid('header')
  c.header('X-Trace-Id', trace)
  return c.json({ trace, tags })
})
