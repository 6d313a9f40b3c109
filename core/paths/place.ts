import { configPath, INDEX_FOLDER } from './index-files.ts'
import { ASSETS_FOLDER, FEEDS_FOLDER } from './pages.ts'

/** How caches treat a file: as one that never changes, or by checking its ETag each time. */
export type CacheRule = 'immutable' | 'revalidate'

/** A path of the public tree with its content type and cache rule. */
export interface Place {
  readonly path: string
  readonly contentType: string
  readonly cache: CacheRule
}

const TEXT = 'text/plain; charset=utf-8'
const ATOM = 'application/atom+xml; charset=utf-8'

const TYPES: ReadonlyMap<string, string> = new Map([
  ['html', 'text/html; charset=utf-8'],
  ['json', 'application/json'],
  ['crate', 'application/gzip'],
  ['css', 'text/css; charset=utf-8'],
  ['js', 'text/javascript; charset=utf-8'],
  ['svg', 'image/svg+xml'],
  ['png', 'image/png'],
  ['xml', 'application/xml; charset=utf-8'],
  ['txt', TEXT],
])

/** Returns a path with its content type and cache rule. */
export function placeOf(path: string): Place {
  const extension = /\.([a-z]+)$/.exec(path)?.[1] ?? ''
  const isImmutable = extension === 'crate' || path.startsWith(`${ASSETS_FOLDER}/`)
  const cache = isImmutable ? 'immutable' : 'revalidate'
  return { path, contentType: contentTypeOf(path, extension), cache }
}

function contentTypeOf(path: string, extension: string): string {
  // Index files have no extension, but the name of a crate may look like one: `html`, `json`.
  if (path.startsWith(`${INDEX_FOLDER}/`) && path !== configPath) return TEXT
  const isFeed = path.startsWith(`${FEEDS_FOLDER}/`) || path.endsWith('/feed.xml')
  if (isFeed && extension === 'xml') return ATOM
  return TYPES.get(extension) ?? 'application/octet-stream'
}
