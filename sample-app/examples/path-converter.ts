import { App } from '../app.ts'
import { path } from '../input/parameter.ts'
import { text } from '../input/text.ts'

/**
 * A path parameter that takes slashes, and may be empty. Hono's `{…}` is a regular expression over the path as it was
 * encoded; this one takes everything but a line break. The path is echoed: never open a file by a name from outside.
 */
export function pathConverter(): App {
  const app = new App('A path within the path')
  app.get('/file/:file_path{(?:(?!%0A).)*}', { file_path: path(text) }, ({ file_path }) => ({ file_path }))
  return app
}
