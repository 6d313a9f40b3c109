import { App } from '../app.ts'
import { dependency } from '../input/dependency.ts'
import { header } from '../input/parameter.ts'
import { text } from '../input/text.ts'
import { sameSecret } from '../login/secret.ts'
import type { Settings } from '../settings.ts'
import { refusal } from '../wire/response.ts'

/** Dependencies of a whole application: every path of it asks for two secret headers. */
export function globalDependencies({ xToken, xKey }: Settings): App {
  const verifyToken = dependency({ x_token: header(text) }, ({ x_token }) => {
    if (!sameSecret(x_token, xToken)) throw refusal(400, 'X-Token header invalid')
  })
  const verifyKey = dependency({ x_key: header(text) }, ({ x_key }) => {
    if (!sameSecret(x_key, xKey)) throw refusal(400, 'X-Key header invalid')
  })
  const app = new App('Global dependencies', [verifyToken, verifyKey])
  app.get('/items/', {}, () => [{ item: 'Portal Gun' }, { item: 'Plumbus' }])
  app.get('/users/', {}, () => [{ username: 'Rick' }, { username: 'Morty' }])
  return app
}
