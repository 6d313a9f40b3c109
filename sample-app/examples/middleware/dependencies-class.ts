// A dependency that is an instance of a class.
// $ curl '/items/?q=foo&skip=1'
import { Hono } from 'hono'
import { createFactory } from 'hono/factory'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { page } from '../items.ts'
import { Common } from './dependencies.ts'

/** The shared parameters as an object that can do something: page through the items. */
class CommonParameters {
  q: string | null = null
  skip = 0
  limit = 100
  page = () => ({ ...(this.q && { q: this.q }), items: page(this) })
}

// The last step of a pipe makes the instance. A factory has handlers that stand together.
const Instance = v.pipe(
  Common,
  v.transform(query => Object.assign(new CommonParameters(), query)),
)
const handlers = createFactory().createHandlers(valid('query', Instance), complete, c => {
  return c.json(c.req.valid('query').page())
})

export default new Hono().get('/items/', ...handlers).get('/users/', ...handlers)
