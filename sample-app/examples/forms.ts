import { App } from '../app.ts'
import { form } from '../input/parameter.ts'
import { text } from '../input/text.ts'

/** Form fields, urlencoded or multipart. The password is asked for and never answered. */
export function forms(): App {
  const app = new App('Form fields')
  app.post('/login/', { username: form(text), password: form(text) }, ({ username }) => ({ username }))
  return app
}
