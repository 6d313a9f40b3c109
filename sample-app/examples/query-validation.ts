import { App } from '../app.ts'
import { query } from '../input/parameter.ts'
import { text } from '../input/text.ts'
import { ITEMS } from './items.ts'

/** Optional text of at most 50 characters; a character is a code point, so an emoji is one. */
export function queryValidation(): App {
  const app = new App('Query validation')
  app.get('/items/', { q: query(text, { default: null, max_length: 50 }) }, ({ q }) => ({ q, items: ITEMS }))
  return app
}
