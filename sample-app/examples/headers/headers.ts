import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'
import { integer } from '../path/path-params-int.ts'

// A name with an underscore travels with a hyphen, because proxies drop underscores: `items_id` is
// the header `Items-ID`. `also` is a second name, read when there is no header of the first.
const number = v.nullish(v.pipe(integer, v.minValue(1)), null)
const items_id = v.pipe(number, v.metadata({ also: 'items_id' }))

const inputs = ask({ header: { items_id, user_agent: v.nullish(v.string(), null) } })

export const app = new Hono().get('/items/', inputs, c => {
  const { items_id, user_agent } = c.var.header
  return c.json({ 'User-Agent': user_agent, items_id })
})

export const about = 'Headers, one of them a number.'
export const request = `--header 'Items-ID: 5' /items/`
