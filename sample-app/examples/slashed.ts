import type { Env, Hono, Schema } from 'hono'

/** For `testClient`: Hono's client leaves the slash out that ends a path, and this puts it back. */
export function slashed<T extends Hono<Env, Schema, string>>(app: T): T {
  const request: typeof app.request = (input, ...rest) =>
    app.request(String(input).replace(/\/?(?=\?|$)/, '/'), ...rest)
  return { request } as T
}
