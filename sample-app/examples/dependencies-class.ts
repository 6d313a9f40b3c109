import { App } from '../app.ts'
import { dependency, depends } from '../input/dependency.ts'
import type { Values } from '../input/input.ts'
import { integer } from '../input/integer.ts'
import { query } from '../input/parameter.ts'
import { text } from '../input/text.ts'
import { slice } from './items.ts'

const parameters = {
  q: query(text, { default: null }),
  skip: query(integer, { default: 0 }),
  limit: query(integer, { default: 100 }),
}

/** The shared parameters as an object that can do something: page through the items. */
class CommonParameters {
  readonly q: string | null
  readonly #skip
  readonly #limit

  constructor({ q, skip, limit }: Values<typeof parameters>) {
    this.q = q
    this.#skip = skip
    this.#limit = limit
  }

  page() {
    return slice(this.#skip, this.#limit)
  }
}

const commonParameters = dependency(parameters, values => new CommonParameters(values))

/** A dependency whose result is an instance of a class. */
export function dependenciesClass(): App {
  const app = new App('A class as a dependency')
  for (const path of ['/items/', '/users/']) {
    app.get(path, { common: depends(commonParameters) }, ({ common }) => ({
      ...(common.q && { q: common.q }),
      items: common.page(),
    }))
  }
  return app
}
