import type { MiddlewareHandler } from 'hono'
import type { GenericSchema } from 'valibot'

/** What a route answers, by status, and what proves who is asking, by name of the scheme. */
export interface Documented {
  readonly answers?: Readonly<Record<number, GenericSchema>>
  readonly security?: Readonly<Record<string, object>>
}

/** What each middleware made by `documented` says, for whoever describes an app. */
export const documents = new WeakMap<object, Documented>()

/** Says something about a route for its documentation, and does nothing to requests. */
export function documented(about: Documented): MiddlewareHandler {
  const middleware: MiddlewareHandler = (_, next) => next()
  documents.set(middleware, about)
  return middleware
}
