import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { ITEMS, page } from '../items.ts'
import { integer } from '../numbers.ts'

const Query = v.object({ skip: v.optional(integer, '0'), limit: v.optional(integer, '10') })
const Param = v.object({ number: v.pipe(integer, v.minValue(1), v.maxValue(ITEMS.length)) })

/** Questions about items; the paths are relative to the app's place. */
export const items = new Hono()
  .get('/', valid('query', Query), complete, c => c.json(page(c.req.valid('query'))))
  .get('/:number', valid('param', Param), complete, c => {
    return c.json(ITEMS[c.req.valid('param').number - 1])
  })
