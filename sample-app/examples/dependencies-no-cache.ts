import { randomInt } from 'node:crypto'
import { App } from '../app.ts'
import { dependency, depends } from '../input/dependency.ts'

const randomNumber = dependency({}, () => randomInt(1, 100))

/** With `use_cache: false` a dependency is computed anew: the two numbers are drawn independently. */
export function dependenciesNoCache(): App {
  const app = new App('Dependencies without cache')
  app.get('/value/', { v: depends(randomNumber), v1: depends(randomNumber, { use_cache: false }) }, ({ v, v1 }) => ({
    value: [v, v1],
  }))
  return app
}
