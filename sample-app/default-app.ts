import { App } from './app.ts'
import { examples } from './catalogue.ts'
import { templatePath } from './docs/openapi.ts'
import type { Settings } from './settings.ts'

/**
 * Many examples answer the same path, each in its own way. The application at the root has one answer per method and
 * path; this is the list of whose it is. Paths are written as OpenAPI writes them.
 */
export const winners: readonly (readonly [method: 'GET' | 'POST', path: string, example: string])[] = [
  ['GET', '/', 'root'],
  ['GET', '/items/{item_id}', 'query-optional'],
  ['GET', '/items/{item_id}/{user_id}', 'path-params'],
  ['GET', '/file/{file_path}', 'path-converter'],
  ['GET', '/items/', 'query-params'],
  ['POST', '/items/', 'body'],
  ['GET', '/users/{user_id}/items/{item_id}', 'query-mixed'],
  ['POST', '/login/', 'forms'],
  ['POST', '/uploadfile/', 'uploads'],
  ['GET', '/users/', 'dependencies'],
  ['GET', '/value/', 'dependencies-cache'],
  ['POST', '/token', 'security'],
  ['GET', '/users/me', 'security'],
  ['GET', '/https', 'https'],
]

/**
 * Makes the application at the root out of the winners' operations.
 * @throws when an example no longer has what it is listed for
 */
export function defaultApp(settings: Settings): App {
  const app = new App('Sample application')
  for (const [method, path, name] of winners) {
    const operations = examples.get(name)?.make(settings).operations ?? []
    const operation = operations.find(one => one.method === method && templatePath(one.path) === path)
    if (!operation) throw new Error(`the example ${name} does not answer ${method} ${path}`)
    app.add(operation)
  }
  return app
}
