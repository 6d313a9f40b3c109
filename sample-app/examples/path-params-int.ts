import { App } from '../app.ts'
import { integer } from '../input/integer.ts'
import { path, query } from '../input/parameter.ts'
import { text } from '../input/text.ts'

/** A path parameter with a kind: `/items/5` has the item `5`, `/items/foo` is refused. */
export function pathParamsInt(): App {
  const app = new App('Typed path parameters')
  app.get('/items/:item_id', { item_id: path(integer), q: query(text, { default: null }) }, ({ item_id, q }) =>
    q ? { item_id, q } : { item_id },
  )
  return app
}
