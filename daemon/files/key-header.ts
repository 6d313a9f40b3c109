import type { MiddlewareHandler } from 'hono'
import { purgeKeys } from '../../core/paths/purge-keys.ts'
import type { Registry } from '../../generator/registry/registry.ts'

/** Returns the header with the keys by which a CDN forgets what is at a path; none without keys. */
export type KeyHeader = (path: string) => Readonly<Record<string, string>>

/**
 * Returns what makes the header that `cdn.key_header` names. Null without that setting, and in a
 * private registry, whose answers no shared cache may keep. Fastly and Varnish take spaces between
 * keys; CDNs that call them tags take commas.
 */
export function keyHeaderOf({ cdn, auth }: Registry['settings']): KeyHeader | null {
  if (cdn.key_header === null || auth.required) return null
  const name = cdn.key_header.toLowerCase()
  const separator = name.endsWith('key') ? ' ' : ','
  return path => {
    const keys = purgeKeys(path)
    return keys.length === 0 ? {} : { [name]: keys.join(separator) }
  }
}

/**
 * Adds the header to answers that a cache may keep and that do not have it yet: those of the web
 * API, redirects, and pages that are made on request.
 */
export function withKeys(keyHeader: KeyHeader): MiddlewareHandler {
  return async (c, next) => {
    await next()
    const { headers } = c.res
    const rule = headers.get('cache-control')
    if (rule === null || /no-store|private/.test(rule)) return
    for (const [name, value] of Object.entries(keyHeader(c.req.path.slice(1))))
      if (!headers.has(name)) headers.set(name, value)
  }
}
