import { App } from '../app.ts'
import { integer } from '../input/integer.ts'
import { header } from '../input/parameter.ts'
import { text } from '../input/text.ts'

/**
 * Headers, one of them a number with a bound. `items_id` travels as `items-id`, because proxies drop names with an
 * underscore; the literal name is read where it gets through.
 */
export function headers(): App {
  const app = new App('Headers')
  app.get(
    '/items/',
    {
      items_id: header(integer, { default: null, ge: 1, also_read: 'items_id' }),
      user_agent: header(text, { default: null }),
    },
    ({ items_id, user_agent }) => ({ 'User-Agent': user_agent, items_id }),
  )
  return app
}
