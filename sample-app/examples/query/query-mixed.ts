import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'
import { integer } from '../path/path-params-int.ts'

const description = 'This is an amazing item that has a long description'
const YES = ['1', 'true', 't', 'yes', 'y', 'on']
const NO = ['0', 'false', 'f', 'no', 'n', 'off']

/** Yes or no in twelve spellings. Any other is refused: a typo is not a no. */
export const boolean = v.pipe(
  v.unknown(),
  v.rawTransform<unknown, boolean>(({ dataset: { value }, addIssue, NEVER }) => {
    const word = String(value).toLowerCase()
    if (YES.includes(word) || NO.includes(word)) return YES.includes(word)
    addIssue({ message: 'bool_parsing' })
    return NEVER
  }),
  v.metadata({ type: 'boolean' }),
)

const inputs = ask({
  path: { user_id: integer, item_id: v.string() },
  query: { q: v.optional(v.string()), short: v.optional(boolean, false) },
})

export const app = new Hono().get('/users/:user_id/items/:item_id', inputs, c => {
  const { user_id, item_id } = c.var.path
  const { q, short } = c.var.query
  return c.json({ item_id, owner_id: user_id, ...(q && { q }), ...(!short && { description }) })
})

export const about = 'Path and query together; yes and no.'
export const request = '/users/1/items/foo?short=yes'
