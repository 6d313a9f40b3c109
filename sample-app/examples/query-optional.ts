import { App } from '../app.ts'
import { path, query } from '../input/parameter.ts'
import { text } from '../input/text.ts'

/** An optional query parameter: with `default: null` its absence is no error, and here `?q=` counts as absent too. */
export function queryOptional(): App {
  const app = new App('Optional query parameter')
  app.get('/items/:item_id', { item_id: path(text), q: query(text, { default: null }) }, ({ item_id, q }) =>
    q ? { item_id, q } : { item_id },
  )
  return app
}
