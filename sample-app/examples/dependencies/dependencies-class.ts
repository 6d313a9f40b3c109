import { Hono } from 'hono'
import * as v from 'valibot'
import { ask, dependency } from '../../ask/ask.ts'
import { slice } from '../items.ts'
import { integer } from '../path/path-params-int.ts'

export const app = new Hono()

const limits = { skip: v.optional(integer, 0), limit: v.optional(integer, 100) }
const Query = v.object({ q: v.optional(v.string()), ...limits })

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

const query = Query.entries
const commonParameters = dependency({ query }, values => new CommonParameters(values.query))
const inputs = ask({ needs: { common: commonParameters } })

app.get('/items/', inputs, c => c.json(c.var.common.page()))
app.get('/users/', inputs, c => c.json(c.var.common.page()))

export const about = 'A dependency that is an instance of a class.'
export const request = '/items/?q=foo&skip=1'
