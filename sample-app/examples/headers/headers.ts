// Headers, one of them a number.
// $ curl --header 'Items-ID: 5' '/items/'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { integer } from '../numbers.ts'

// Names of headers are the same in any letter case. One with an underscore travels with a hyphen,
// because proxies drop underscores; here the other spelling is read where there is no first one.
const positive = v.nullish(v.pipe(integer, v.minValue(1)), null)
const agent = v.nullish(v.string(), null)
const Headers = v.object({ 'items-id': positive, 'User-Agent': agent, items_id: positive })

export default new Hono().get('/items/', valid('header', Headers), complete, c => {
  const { 'User-Agent': agent, 'items-id': hyphen, items_id: underscore } = c.req.valid('header')
  return c.json({ 'User-Agent': agent, items_id: hyphen ?? underscore })
})
