// A query parameter that may be absent.
// $ curl '/items/foo?q=news'
import { Hono } from 'hono'

// `c.req.query` gives a string, or undefined where the address has no such name. An empty `?q=`
// is left out of this answer like an absent one.
export default new Hono().get('/items/:item_id', c => {
  const item_id = c.req.param('item_id')
  const q = c.req.query('q')
  return c.json(q ? { item_id, q } : { item_id })
})
