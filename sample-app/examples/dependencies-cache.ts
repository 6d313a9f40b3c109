import { randomInt } from 'node:crypto'
import { App } from '../app.ts'
import { dependency, depends } from '../input/dependency.ts'

const randomNumber = dependency({}, () => randomInt(1, 100))

/** One dependency needed twice is computed once per request: the two numbers are always the same. */
export function dependenciesCache(): App {
  const app = new App('Cached dependencies')
  app.get('/value/', { v: depends(randomNumber), v1: depends(randomNumber) }, ({ v, v1 }) => ({ value: [v, v1] }))
  return app
}
