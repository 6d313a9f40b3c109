import { Hono } from 'hono'
import * as v from 'valibot'
import { ask, dependency } from '../../ask/ask.ts'
import { slice } from '../items.ts'
import { integer } from '../path/path-params-int.ts'

export const app = new Hono()

type Integer = number | bigint

const query = {
  q: v.optional(v.string()),
  skip: v.optional(integer, 0),
  limit: v.optional(integer, 100),
}

/** The shared parameters as an object that can do something: page through the items. */
class CommonParameters {
  readonly q: string | undefined
  readonly #skip: number | bigint
  readonly #limit: number | bigint

  constructor({ q, skip, limit }: { q?: string | undefined; skip: Integer; limit: Integer }) {
    this.q = q
    this.#skip = skip
    this.#limit = limit
  }

  page() {
    return slice(this.#skip, this.#limit)
  }
}

const commonParameters = dependency({ query }, values => new CommonParameters(values.query))

for (const path of ['/items/', '/users/']) {
  app.get(path, ask({ needs: { common: commonParameters } }), c => {
    const { common } = c.var
    return c.json({ ...(common.q && { q: common.q }), items: common.page() })
  })
}

export const about = [
  'dependencies-class',
  'A dependency that is an instance of a class.',
  '/items/?q=foo&skip=1',
]
