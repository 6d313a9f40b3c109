import { unescape as undoPercent } from 'node:querystring'
import type { HttpBindings } from '@hono/node-server'
import { createMiddleware } from 'hono/factory'

/** Node's own objects, which are absent under `app.request`. */
export type NodeEnv = { Bindings: Partial<HttpBindings> }

/**
 * Hono's `getPath`: the path that routes match. Each segment is decoded and encoded again, so
 * `/%69tems` meets `/items`, `%2F` stays in its segment, and bytes that are no text are U+FFFD.
 */
export function wirePath(request: Request, options?: { env?: NodeEnv['Bindings'] }): string {
  // As it was on the wire: `new URL` would collapse dot segments.
  const written = options?.env?.incoming?.url ?? request.url
  const path = written.replace(/^https?:\/\/[^/?]*/i, '').replace(/\?.*/s, '') || '/'
  const segments = path.split('/').map(segment => encodeURIComponent(undoPercent(segment)))
  return segments.join('/')
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
