import { CRATES_FOLDER } from './crates.ts'

/** Folder of the stylesheet, the scripts and the images; their paths contain a hash. */
export const ASSETS_FOLDER = 'assets'

export const frontPath = 'index.html'
export const notFoundPath = '404.html'
export const robotsPath = 'robots.txt'
/** The file by which browsers can add the registry as a search engine. */
export const openSearchPath = 'opensearch.xml'

/** The file that makes GitHub Pages serve all files unchanged. */
export const noJekyllPath = '.nojekyll'

/** Returns the path of the list page with the canonical names that begin with `prefix`. */
export function listPath(prefix: string): string {
  return `${CRATES_FOLDER}/index${prefix === '' ? '' : `-${prefix}`}.html`
}

/** Whether `listPath` can return `path`. Crate names have no dots, so no page collides. */
export function isListPath(path: string): boolean {
  return /^crates\/index(?:-[a-z0-9_]+)?\.html$/.test(path)
}

/** The Atom feeds of the registry: new crates, and all new versions. */
export const FEEDS_FOLDER = 'feeds'
export const newCratesPath = `${FEEDS_FOLDER}/crates.xml`
export const updatesPath = `${FEEDS_FOLDER}/updates.xml`

/** The sitemap, which lists its parts, and the folder of the parts. */
export const sitemapPath = 'sitemap.xml'
export const SITEMAPS_FOLDER = 'sitemaps'

/** Number of crates in one part; small, because every change of a crate rewrites its part. */
export const SITEMAP_CRATES = 1000

/** Returns the path of a part of the sitemap: crates by id, or `pages` for all other pages. */
export function sitemapPartPath(part: number | 'pages'): string {
  return `${SITEMAPS_FOLDER}/${part}.xml`
}
