// core/paths: Where each file of the public tree is. Projections and daemon call it; it never opens
// one.
import { lowerPrefix, type Name } from '../name.ts'
import { CRATES_FOLDER } from './crates.ts'
import { isImagePath } from './images.ts'

/** How caches treat a file: it never changes, or they check its ETag each time. */
export type CacheRule = keyof typeof CACHE_CONTROL

/** `Cache-Control` by cache rule, in answers of the daemon and as objects of buckets have it. */
export const CACHE_CONTROL = {
  immutable: 'public, max-age=31536000, immutable',
  revalidate: 'no-cache',
} as const

/** The headers of a public file: its path decides its type and cache rule. */
export interface PublicFile {
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
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['avif', 'image/avif'],
  ['ico', 'image/vnd.microsoft.icon'],
  ['xml', 'application/xml; charset=utf-8'],
  ['txt', TEXT],
])

/** Returns a path with its content type and cache rule. */
export function publicFile(path: string): PublicFile {
  const extension = /\.([a-z]+)$/.exec(path)?.[1] ?? ''
  const isImmutable =
    extension === 'crate' || path.startsWith(`${ASSETS_FOLDER}/`) || isImagePath(path)
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

export interface Output extends PublicFile {
  readonly bytes: Buffer
}

/** Creates a file of the public tree; its path determines content type and cache rule. */
export function output(path: string, body: Buffer | { toString(): string }): Output {
  return { ...publicFile(path), bytes: Buffer.isBuffer(body) ? body : Buffer.from(body.toString()) }
}

export const INDEX_FOLDER = 'index'

/** Folder of the git index, for clients of git's dumb HTTP protocol. */
export const GIT_INDEX_FOLDER = 'index.git'

export const configPath = `${INDEX_FOLDER}/config.json`

/** Returns the path of a crate's index file, in lowercase as Cargo expects (specification A.2). */
export function indexPath(name: Name): string {
  return `${INDEX_FOLDER}/${lowerPrefix(name)}/${name.toLowerCase()}`
}

/** Whether a path is a crate's index file. */
export function isIndexFile(path: string): boolean {
  return path.startsWith(`${INDEX_FOLDER}/`) && path !== configPath
}

/** Returns the path in the git index of a file of the sparse index. */
export function pathInGit(path: string): string {
  return path.slice(INDEX_FOLDER.length + 1)
}

/** The folder of unfinished pushes; no part of the tree. */
export const PUSH_FOLDER = '.push'

/** What the names of the lock begin with that a build holds in its tree; a killed one leaves it. */
export const BUILD_LOCK = '.building'

/** Folder of the stylesheet, the scripts and the images; their paths contain a hash. */
export const ASSETS_FOLDER = 'assets'

export const frontPath = 'index.html'
export const notFoundPath = '404.html'
export const robotsPath = 'robots.txt'
export const openSearchPath = 'opensearch.xml'

export const downloadsPath = 'downloads.json'
export const downloadsPlotPath = 'downloads.svg'

/** The file that makes GitHub Pages serve all files unchanged. */
export const noJekyllPath = '.nojekyll'

/** Returns the path of the list page with the canonical names that begin with `prefix`. */
export function listPath(prefix: string): string {
  return `${CRATES_FOLDER}/index${prefix === '' ? '' : `-${prefix}`}.html`
}

/** Crate names have no dots, so no list page has the path of a crate page. */
export function isListPath(path: string): boolean {
  return /^crates\/index(?:-[a-z0-9_]+)?\.html$/.test(path)
}

export const FEEDS_FOLDER = 'feeds'
export const newCratesPath = `${FEEDS_FOLDER}/crates.xml`
export const updatesPath = `${FEEDS_FOLDER}/updates.xml`

/** Folder of known holes: an OSV file each, and the list of all with what a check needs. */
export const ADVISORIES_FOLDER = 'advisories'
export const advisoriesPath = `${ADVISORIES_FOLDER}/index.json`

/** Whether a text is the id of an advisory: `NAME-YYYY-N…`, or one of GitHub's. */
export function isAdvisoryId(text: string): boolean {
  return /^(?:[A-Z][A-Z0-9]{0,31}-\d{4}-\d{1,19}|GHSA(?:-[0-9a-z]{4}){3})$/.test(text)
}

/** Returns the path of an advisory by its id, which `isAdvisoryId` allows. */
export function advisoryPath(id: string): string {
  return `${ADVISORIES_FOLDER}/${id}.json`
}

export const sitemapPath = 'sitemap.xml'
export const SITEMAPS_FOLDER = 'sitemaps'

/** Number of crates in one part; small, because every change of a crate rewrites its part. */
export const SITEMAP_CRATES = 1000

/** Returns the path of a part of the sitemap: crates by id, or `pages` for all other pages. */
export function sitemapPartPath(part: number | 'pages'): string {
  return `${SITEMAPS_FOLDER}/${part}.xml`
}
