import { CRATES_FOLDER } from './crates.ts'

/** Folder of the stylesheet, the scripts and the pictures; their names contain a hash. */
export const ASSETS_FOLDER = 'assets'

export const frontPath = 'index.html'
export const notFoundPath = '404.html'
export const robotsPath = 'robots.txt'
/** Offers the registry's search to the browser. */
export const openSearchPath = 'opensearch.xml'

/** Makes GitHub Pages serve the files unchanged. */
export const noJekyllPath = '.nojekyll'

/** A page of the list of crates, with the canonical names that begin with `prefix`. */
export function listPath(prefix: string): string {
  return `${CRATES_FOLDER}/index${prefix === '' ? '' : `-${prefix}`}.html`
}

/** Whether `listPath` can return `path`; crate names have no dots, so none collides. */
export function isListPath(path: string): boolean {
  return /^crates\/index(?:-[a-z0-9_]+)?\.html$/.test(path)
}

/** The Atom feeds of the registry: new crates, and all new versions. */
export const FEEDS_FOLDER = 'feeds'
export const newCratesPath = `${FEEDS_FOLDER}/crates.xml`
export const updatesPath = `${FEEDS_FOLDER}/updates.xml`

/** The sitemap, which lists its parts, and the folder of these. */
export const sitemapPath = 'sitemap.xml'
export const SITEMAPS_FOLDER = 'sitemaps'

/** Crates in one part; few, because every change of a crate rewrites its part. */
export const SITEMAP_CRATES = 1000

/** A part of the sitemap: crates by id, or `pages` for all other pages. */
export function sitemapPartPath(part: number | 'pages'): string {
  return `${SITEMAPS_FOLDER}/${part}.xml`
}
