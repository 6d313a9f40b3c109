import { App } from '../app.ts'
import { cookie } from '../input/parameter.ts'
import { text } from '../input/text.ts'

/** A cookie, as the client sent it. */
export function cookies(): App {
  const app = new App('Cookies')
  app.get('/items/', { ads_id: cookie(text, { default: null }) }, ({ ads_id }) => ({ ads_id }))
  return app
}
