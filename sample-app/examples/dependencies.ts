import { App } from '../app.ts'
import { dependency, depends } from '../input/dependency.ts'
import { integer } from '../input/integer.ts'
import { query } from '../input/parameter.ts'
import { text } from '../input/text.ts'

/** Three parameters that several paths share, declared once. */
const commonParameters = dependency(
  {
    q: query(text, { default: null }),
    skip: query(integer, { default: 0 }),
    limit: query(integer, { default: 100 }),
  },
  ({ q, skip, limit }) => ({ q, skip, limit }),
)

/** A dependency: what two paths have in common, in one place. */
export function dependencies(): App {
  const app = new App('Dependencies')
  app.get('/items/', { common: depends(commonParameters) }, ({ common }) => common)
  app.get('/users/', { common: depends(commonParameters) }, ({ common }) => common)
  return app
}
