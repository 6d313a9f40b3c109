// An app of several files.
// $ curl '/api/items/2'
import { Hono } from 'hono'
import { items } from './routes-items.ts'

// `route` puts an app below a path of another: each file has its own and is tested alone. The
// checks of its routes come along. `basePath` is for their common part.
const app = new Hono()
  .basePath('/api')
  .route('/items', items)
  .get('/version', c => c.json({ version: 1 }))

/** For clients: see `client`. */
export type AppType = typeof app
export default app
