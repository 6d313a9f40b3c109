// Something is opened before the handler and closed after it.
// $ curl '/items/1'
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'

/** Stands for a connection to a database. */
export class Session {
  static open = 0
  readonly opened = ++Session.open
  find = (id: string) => (id === '1' ? 'Foo' : null)
  close = () => --Session.open
}

// Code behind `await next()` runs when the handler is done, whether it answered or threw: Hono
// makes an answer of an error before it comes back here, and leaves the error in `c.error`.
const withSession = createMiddleware<{ Variables: { session: Session } }>(async (c, next) => {
  const session = new Session()
  c.set('session', session)
  await next()
  session.close()
  c.header('X-Outcome', c.error ? 'rolled back' : 'committed')
})

export default new Hono().get('/items/:item_id', withSession, c => {
  const name = c.var.session.find(c.req.param('item_id'))
  if (name === null) throw new Error('nothing found')
  return c.json({ name })
})
