import { App } from '../app.ts'
import { path } from '../input/parameter.ts'
import { text } from '../input/text.ts'

/** Length and pattern of text in the path; of a text that breaks both, only the length is reported. */
export function pathValidationStr(): App {
  const app = new App('Path validation: text')
  app.get(
    '/items/:item_id',
    { item_id: path(text, { min_length: 2, max_length: 10, pattern: '^[a-z]+$' }) },
    ({ item_id }) => ({ item_id }),
  )
  return app
}
