// A dependency that is an instance of a class.
// $ curl '/items/?q=foo&skip=1'
import { Hono } from 'hono'
import { createFactory } from 'hono/factory'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { integer } from '../integer.ts'
import { slice } from '../items.ts'

const Query = v.object({
  q: v.optional(v.string()),
  skip: v.optional(integer, '0'),
  limit: v.optional(integer, '100'),
})

/** The shared parameters as an object that can do something: page through the items. */
class CommonParameters {
  readonly #query: v.InferOutput<typeof Query>

  constructor(query: v.InferOutput<typeof Query>) {
    this.#query = query
  }

  page() {
    const { q, skip, limit } = this.#query
    return { ...(q && { q }), items: slice(skip, limit) }
  }
}

// The last step of a pipe makes the instance. A factory has handlers that stand together and are
// given to routes by name.
const Common = v.pipe(
  Query,
  v.transform(query => new CommonParameters(query)),
)
const page = createFactory().createHandlers(valid('query', Common), complete, c => {
  return c.json(c.req.valid('query').page())
})

const app = new Hono().get('/items/', ...page).get('/users/', ...page)

export default app
