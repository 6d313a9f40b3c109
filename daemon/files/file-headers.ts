import { isImagePath } from '../../core/paths/images.ts'
import { CACHE_CONTROL, notFoundPath, publicFile } from '../../core/paths/tree.ts'
import type { KeyHeader } from './key-header.ts'

/** A drawing of a stranger may be opened as a page; it can do nothing there. */
const IMAGE_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}

/** What the headers of all files of a tree depend on. */
export interface HeaderOptions {
  /** Headers that every page has in addition to those of all files. */
  readonly pageHeaders?: Readonly<Record<string, string>>
  /** Gives the header with the keys by which a CDN forgets a file; null without such a header. */
  readonly keyHeader?: KeyHeader | null
}

/** What the answers of all files of a tree depend on. */
export interface TreeOptions extends HeaderOptions {
  /**
   * The `config.json` of the settings, which is answered whatever has become of the tree: Cargo
   * reads it before anything else.
   */
  readonly config?: Buffer
}

/** Returns the headers of a file of the tree, by its path and the tag of its content. */
export type FileHeaders = (path: string, tag: string) => Record<string, string>

/** Returns what makes the headers of files. */
export function fileHeaders(options: HeaderOptions): FileHeaders {
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

/**
 * Returns the redirect of a request for a folder without its slash. A relative target keeps the
 * host and the path prefix of the client's request.
 */
export function toFolder(pathname: string, url: string) {
  const last = pathname.slice(pathname.lastIndexOf('/') + 1)
  const location = `./${last}/${new URL(url).search}`
  return { status: 301, headers: { location, 'cache-control': 'no-cache' } }
}
