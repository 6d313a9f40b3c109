import { configPath, INDEX_FOLDER } from './index-files.ts'
import { ASSETS_FOLDER, FEEDS_FOLDER } from './pages.ts'

/**
 * How long others may keep a file: bytes under an `immutable` path never change, `revalidate` needs
 * an ETag check.
 */
export type CacheRule = 'immutable' | 'revalidate'

/** A file of the public tree: its path below the root, what the bytes are, who may keep them. */
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

/** What a server says about the file at `path` of the public tree. */
export function placeOf(path: string): Place {
  const extension = /\.([a-z]+)$/.exec(path)?.[1] ?? ''
  const isImmutable = extension === 'crate' || path.startsWith(`${ASSETS_FOLDER}/`)
  const cache = isImmutable ? 'immutable' : 'revalidate'
  return { path, contentType: contentTypeOf(path, extension), cache }
}

function contentTypeOf(path: string, extension: string): string {
  // Index files have no extension, and a crate may be called as one: `html`, `json`.
  if (path.startsWith(`${INDEX_FOLDER}/`) && path !== configPath) return TEXT
  const isFeed = path.startsWith(`${FEEDS_FOLDER}/`) || path.endsWith('/feed.xml')
  if (isFeed && extension === 'xml') return ATOM
  return TYPES.get(extension) ?? 'application/octet-stream'
}
