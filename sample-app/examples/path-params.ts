import { App } from '../app.ts'
import { path } from '../input/parameter.ts'
import { text } from '../input/text.ts'

/** Parts of the path as parameters. They are text: `/items/5` has the item `"5"`. */
export function pathParams(): App {
  const app = new App('Path parameters')
  app.get('/items/:item_id', { item_id: path(text) }, ({ item_id }) => ({ item_id }))
  app.get('/items/:item_id/:user_id', { item_id: path(text), user_id: path(text) }, ({ item_id, user_id }) => ({
    item_id,
    user_id,
  }))
  return app
}
