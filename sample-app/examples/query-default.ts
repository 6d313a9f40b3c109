import { App } from '../app.ts'
import { query } from '../input/parameter.ts'
import { text } from '../input/text.ts'
import { ITEMS } from './items.ts'

/** A default other than null: the parameter is optional, its value never null. */
export function queryDefault(): App {
  const app = new App('Query default')
  app.get('/items/', { q: query(text, { default: 'fixedquery', min_length: 3 }) }, ({ q }) => ({ q, items: ITEMS }))
  return app
}
