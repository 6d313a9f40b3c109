// Parts of the path as parameters.
// $ curl '/items/5/alice'
import { Hono } from 'hono'

// Hono writes a path parameter as `:name`, and `c.req.param` reads it. It is text, even where it
// has digits only: `/items/5` has the item `"5"`. TypeScript knows the names from the path.
export default new Hono()
  .get('/items/:item_id', c => c.json({ item_id: c.req.param('item_id') }))
  .get('/items/:item_id/:user_id', c => c.json(c.req.param()))
