import { App } from '../app.ts'
import { integer } from '../input/integer.ts'
import { path, query } from '../input/parameter.ts'
import { text } from '../input/text.ts'

/** Bounds for a number in the path, and a title for its documentation. */
export function pathValidation(): App {
  const app = new App('Path validation: whole numbers')
  app.get(
    '/items/:item_id',
    {
      item_id: path(integer, { title: 'The ID of the item to get', gt: 0, le: 1000 }),
      q: query(text, { default: null }),
    },
    ({ item_id, q }) => (q ? { item_id, q } : { item_id }),
  )
  return app
}
