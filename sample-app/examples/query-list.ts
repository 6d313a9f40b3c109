import { App } from '../app.ts'
import { query } from '../input/parameter.ts'
import { textList } from '../input/text.ts'

/** A parameter that may be repeated: `?q=foo&q=bar` is a list of two, in this order. */
export function queryList(): App {
  const app = new App('A list in the query')
  app.get('/items/', { q: query(textList, { default: null }) }, ({ q }) => ({ q }))
  return app
}
