import { App } from '../app.ts'
import { integer } from '../input/integer.ts'
import { query } from '../input/parameter.ts'
import { slice } from './items.ts'

/** Query parameters with defaults: `?skip=1&limit=1` pages through a list. */
export function queryParams(): App {
  const app = new App('Query parameters')
  app.get(
    '/items/',
    { skip: query(integer, { default: 0 }), limit: query(integer, { default: 10 }) },
    ({ skip, limit }) => slice(skip, limit),
  )
  return app
}
