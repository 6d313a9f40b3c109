// Everything a request brings, read with Hono alone.
// $ curl --header 'X-Trace: 7' --json '{"price":2}' '/items/5?q=a&tag=x&tag=y'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { getCookie } from 'hono/cookie'

// Nothing but the size is checked: all of it is text that a stranger chose, the JSON is of any
// shape, and broken JSON ends in a 500. The next chapter puts a check before the handler.
export default new Hono().post('/items/:item_id', bodyLimit({ maxSize: 1024 * 1024 }), async c => {
  return c.json({
    param: c.req.param('item_id'),
    query: c.req.query('q') ?? null,
    all: c.req.queries('tag') ?? [],
    header: c.req.header('X-Trace') ?? null,
    cookie: getCookie(c, 'session') ?? null,
    json: await c.req.json(),
    path: c.req.path,
    method: c.req.method,
  })
})
