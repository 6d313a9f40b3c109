// A query parameter that may be absent.
// $ curl '/items/foo?q=news'
import { Hono } from 'hono'

// `c.req.query` gives a string, or undefined, which JSON leaves out. Here `?q=` is left out, too.
export default new Hono().get('/items/:item_id', c => {
  return c.json({ item_id: c.req.param('item_id'), q: c.req.query('q') || undefined })
})
