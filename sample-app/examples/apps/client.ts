// A client that knows the types of a server.
// $ curl '/first'
import { Hono } from 'hono'
import { hc } from 'hono/client'
import routes, { type AppType } from './routes.ts'

// Only the server's type is needed, also in a browser. A path or an input that it lacks is an error
// of the compiler. Requests stay in the process here; without `fetch` they go to the address.
const client = hc<AppType>('http://localhost', { fetch: routes.request })

export default new Hono().get('/first', async c => {
  const response = await client.api.shop.items[':item_id'].$get({ param: { item_id: '1' } })
  const { name } = await response.json()
  return c.json({ first: name })
})
