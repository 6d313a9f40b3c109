import { App } from '../app.ts'
import { query } from '../input/parameter.ts'
import { text } from '../input/text.ts'
import { ITEMS } from './items.ts'

/** A name on the wire that no program could use, a title, and the mark that it is going away. */
export function queryMetadata(): App {
  const app = new App('Query metadata')
  const q = query(text, {
    default: null,
    alias: 'item-query',
    title: 'Query string',
    min_length: 3,
    max_length: 50,
    pattern: '^fixedquery$',
    deprecated: true,
  })
  app.get('/items/', { q }, ({ q }) => ({ q, items: ITEMS }))
  return app
}
