import { App } from '../app.ts'
import { boolean } from '../input/boolean.ts'
import { integer } from '../input/integer.ts'
import { path, query } from '../input/parameter.ts'
import { text } from '../input/text.ts'

/** Path and query together, and a yes-or-no parameter: `?short=yes` leaves the description out. */
export function queryMixed(): App {
  const app = new App('Path and query parameters')
  app.get(
    '/users/:user_id/items/:item_id',
    {
      user_id: path(integer),
      item_id: path(text),
      q: query(text, { default: null }),
      short: query(boolean, { default: false }),
    },
    ({ user_id, item_id, q, short }) => ({
      item_id,
      owner_id: user_id,
      ...(q && { q }),
      ...(!short && { description: 'This is an amazing item that has a long description' }),
    }),
  )
  return app
}
