import { unescape as undoPercent } from 'node:querystring'
import type { HttpBindings } from '@hono/node-server'
import { createMiddleware } from 'hono/factory'

/** Node's own objects, which are absent under `app.request`. */
export type NodeEnv = { Bindings: Partial<HttpBindings> }

/** Path and query as they were on the wire: `new URL` would collapse dot segments. */
export function target(request: Request, env: NodeEnv['Bindings'] | undefined) {
  const written = env?.incoming?.url ?? request.url
  const [, path, query = ''] = /^(?:https?:\/\/[^/?#]*)?([^?]*)(.*)$/is.exec(written) ?? []
  return { path: path || '/', query }
}

/**
 * Hono's `getPath`: the path that routes match. Each segment is decoded and encoded again, so
 * `/%69tems` meets `/items`, `%2F` stays in its segment, and bytes that are no text are U+FFFD.
 */
export function wirePath(request: Request, options?: { env?: NodeEnv['Bindings'] }): string {
  const segments = target(request, options?.env).path.split('/')
  return segments.map(segment => encodeURIComponent(undoPercent(segment))).join('/')
}

/** Cookies as they were sent, less quotes; the last of a name counts. Hono's reader would decode. */
export const wireCookies = createMiddleware(async (c, next) => {
  const pairs = [...(c.req.header('Cookie') ?? '').matchAll(/(?:^|;)([^;=]*)=([^;]*)/g)]
  const named = pairs.map(([, name = '', value = '']) => {
    const bare = value.trim().replace(/^"(.*)"$/s, (_, text) => text.replace(/\\(.)/gs, '$1'))
    return [name.trim(), encodeURIComponent(bare)] as const
  })
  const cookies = [...new Map(named)].map(pair => pair.join('='))
  if (pairs.length > 0) c.req.raw.headers.set('Cookie', cookies.join('; '))
  await next()
})
