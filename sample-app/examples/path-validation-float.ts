import { App } from '../app.ts'
import { float } from '../input/float.ts'
import { path } from '../input/parameter.ts'

/** Bounds for a number that need not be whole. */
export function pathValidationFloat(): App {
  const app = new App('Path validation: numbers')
  app.get('/items/:item_id', { item_id: path(float, { ge: 0.5, lt: 10.5 }) }, ({ item_id }) => ({ item_id }))
  return app
}
