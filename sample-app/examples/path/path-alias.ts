import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'

// The program says `itemId`, the address says `item-id`: `alias` is the name outside, in the path,
// in errors and in the documentation.
const ItemId = v.pipe(v.string(), v.metadata({ alias: 'item-id', deprecated: true }))

export const app = new Hono().get('/items/:item-id', ask({ path: { itemId: ItemId } }), c => {
  return c.json({ item_id: c.var.path.itemId })
})

export const about = 'A path parameter with another name inside.'
export const request = '/items/5'
