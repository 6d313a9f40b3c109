// A query parameter that may be absent.
// $ curl '/items/foo?q=news'
import { Hono } from 'hono'

// It is a string, or undefined if it is absent. This answer leaves an empty `?q=` out, too.
export default new Hono().get('/items/:item_id', c => {
  const item_id = c.req.param('item_id')
  const q = c.req.query('q')
  return c.json(q ? { item_id, q } : { item_id })
})
