import { App } from '../app.ts'
import { path, query } from '../input/parameter.ts'
import { text } from '../input/text.ts'

/** A required query parameter: one without a default. `?needy=` is there, and empty. */
export function queryRequired(): App {
  const app = new App('Required query parameter')
  app.get('/items/:item_id', { item_id: path(text), needy: query(text) }, ({ item_id, needy }) => ({ item_id, needy }))
  return app
}
