import { App } from '../app.ts'
import { dependency, depends } from '../input/dependency.ts'
import { cookie, path, query } from '../input/parameter.ts'
import { text } from '../input/text.ts'

const queryExtractor = dependency({ q: query(text, { default: null }) }, ({ q }) => q)

const queryOrCookie = dependency(
  { q: depends(queryExtractor), last_query: cookie(text, { default: null }) },
  ({ q, last_query }) => q || last_query,
)

/** A dependency of a dependency: the query if there is one, else what the cookie remembers of the last. */
export function dependenciesNested(): App {
  const app = new App('Nested dependencies')
  app.get('/items/:item_id', { item_id: path(text), q_or_cookie: depends(queryOrCookie) }, ({ q_or_cookie }) => ({
    q_or_cookie,
  }))
  return app
}
