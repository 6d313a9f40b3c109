// A query parameter that may be absent.
// $ curl '/items/foo?q=news'
import { Hono } from 'hono'

// Of several values the last counts here. JSON leaves undefined out; `?q=` is left out, too.
export default new Hono().get('/items/:item_id', c => {
  return c.json({ item_id: c.req.param('item_id'), q: c.req.queries('q')?.at(-1) || undefined })
})
