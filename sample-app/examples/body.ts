import { App } from '../app.ts'
import { float } from '../input/float.ts'
import { body, field, model } from '../input/model.ts'
import { text } from '../input/text.ts'

const Item = model('Item', {
  name: field(text, { default: 'Unnamed item' }),
  description: field(text, { default: null }),
  price: field(float),
  tax: field(float, { default: null }),
})

/** A JSON body: checked, unknown keys dropped, defaults filled in, and echoed. */
export function jsonBody(): App {
  const app = new App('JSON body')
  app.post('/items/', { item: body(Item) }, ({ item }) => item)
  return app
}
