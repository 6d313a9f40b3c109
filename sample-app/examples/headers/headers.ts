// Headers: a number, a pattern, a list.
// $ curl --header 'Items-ID: 5' '/items/'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { integer } from '../validator/path-params-int.ts'

// Names of headers are the same in any letter case. One with an underscore travels with a hyphen,
// because proxies drop underscores; here the other spelling is read where there is no first one.
const positive = v.nullish(v.pipe(integer, v.minValue(1)), null)
const agent = v.nullish(v.string(), null)
const Headers = v.object({ 'items-id': positive, 'User-Agent': agent, items_id: positive })

const hex = v.pipe(v.string(), v.minCodePoints(4), v.maxCodePoints(16), v.regex(/^[0-9a-f]+$/))
const trace = v.pipe(hex, v.title('Where it comes from'))
// A header that is sent twice arrives as one with a comma: a list takes it apart again.
const tags = v.pipe(v.optional(v.array(v.string()), []), v.metadata({ deprecated: true }))
const Trace = v.object({ 'X-Trace-Id': trace, 'X-Tag': tags })

export default new Hono()
  .get('/items/', valid('header', Headers), complete, c => {
    const { 'User-Agent': agent, 'items-id': hyphen, items_id: underscore } = c.req.valid('header')
    return c.json({ 'User-Agent': agent, items_id: hyphen ?? underscore })
  })
  .get('/trace/', valid('header', Trace), complete, c => {
    const { 'X-Trace-Id': trace, 'X-Tag': tags } = c.req.valid('header')
    c.header('X-Trace-Id', trace)
    return c.json({ trace, tags })
  })
