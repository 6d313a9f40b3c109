// An app of several files.
// $ curl '/api/shop/items/1'
import { Hono } from 'hono'
import items from '../middleware/dependencies-cleanup.ts'
import users from '../validator/query-mixed.ts'

// `route` puts an app below a path of another: each file has its own and is tested alone. The
// checks and other middleware of its routes come along. `basePath` is for their common part.
const app = new Hono()
  .basePath('/api')
  .route('/shop', items)
  .route('/staff', users)
  .get('/version', c => c.json({ version: 1 }))

/** For clients: see `client`. */
export type AppType = typeof app
export default app
