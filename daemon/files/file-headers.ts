import type { MiddlewareHandler } from 'hono'
import { isImagePath } from '../../core/paths/images.ts'
import { purgeKeys } from '../../core/paths/purge-keys.ts'
import { CACHE_CONTROL, notFoundPath, publicFile } from '../../core/paths/tree.ts'
import type { Registry } from '../../generator/registry/registry.ts'

/** A drawing of a stranger may be opened as a page; it can do nothing there. */
const IMAGE_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}

export interface TreeOptions {
  readonly pageHeaders?: Readonly<Record<string, string>>
  readonly keyHeader?: KeyHeader | null
  /** The `config.json` of the settings, answered whatever has become of the tree. */
  readonly config?: Buffer
}

export type FileHeaders = (path: string, tag: string) => Record<string, string>

/** Returns what makes the headers of files. */
export function fileHeaders(options: TreeOptions): FileHeaders {
  const { pageHeaders = {}, keyHeader = null } = options
  return (path, tag) => {
    const { contentType, cache } = publicFile(path)
    return {
      ...(contentType.startsWith('text/html') && pageHeaders),
      ...(isImagePath(path) && IMAGE_HEADERS),
      'content-type': contentType,
      'cache-control': CACHE_CONTROL[cache],
      'x-content-type-options': 'nosniff',
      ...keyHeader?.(path),
      etag: `"${tag}"`,
    }
  }
}

/** Returns the answer with the tree's 404 page. */
export function notFound(
  method: string,
  bytes: Buffer,
  pageHeaders: Readonly<Record<string, string>>,
): Response {
  const headers = {
    ...pageHeaders,
    'content-type': publicFile(notFoundPath).contentType,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-length': String(bytes.byteLength),
  }
  return new Response(method === 'HEAD' ? null : new Uint8Array(bytes), { status: 404, headers })
}

/** Redirects to a folder's slash; a relative target keeps the client's host and path prefix. */
export function toFolder(pathname: string, url: string) {
  const last = pathname.slice(pathname.lastIndexOf('/') + 1)
  const location = `./${last}/${new URL(url).search}`
  return { status: 301, headers: { location, 'cache-control': 'no-cache' } }
}

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

/** Adds the header to answers that a cache may keep and that lack it, such as redirects. */
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
