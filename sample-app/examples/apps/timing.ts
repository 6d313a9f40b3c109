// How long it took, for the developer tools of a browser.
// $ curl --include '/items/'
import { Hono } from 'hono'
import { requestId } from 'hono/request-id'
import { endTime, startTime, timing } from 'hono/timing'
import { ITEMS } from '../items.ts'

// The order of middleware is the order of the code: the first measures all that follow. A request
// has a number, its own or a new one, that finds its log lines again.
export default new Hono().use(timing(), requestId()).get('/items/', async c => {
  startTime(c, 'db', 'the database')
  const items = await Promise.resolve(ITEMS)
  endTime(c, 'db')
  return c.json(items)
})
