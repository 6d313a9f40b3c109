import { CRATES_FOLDER } from './crates.ts'

/**
 * Folder of the stylesheet, the scripts and the pictures, whose names are made from their bytes.
 */
export const ASSETS_FOLDER = 'assets'

/** The front page. */
export const frontPath = 'index.html'

/** The answer to an address that has nothing. */
export const notFoundPath = '404.html'

/** Says to search engines what they may read. */
export const robotsPath = 'robots.txt'

/** Offers the registry's search to the browser. */
export const openSearchPath = 'opensearch.xml'

/** Tells GitHub Pages to serve the files as they are. */
export const noJekyllPath = '.nojekyll'

/** A page of the list of crates: those whose canonical names begin with `prefix`. */
export function listPath(prefix: string): string {
  return `${CRATES_FOLDER}/index${prefix === '' ? '' : `-${prefix}`}.html`
}

/** Whether a path is that of a page of the list; crate names have no dots, so none collides. */
export function isListPath(path: string): boolean {
  return /^crates\/index(?:-[a-z0-9_]+)?\.html$/.test(path)
}

/** Folder of the registry's own feeds. */
export const FEEDS_FOLDER = 'feeds'

/** The Atom feed of new crates. */
export const newCratesPath = `${FEEDS_FOLDER}/crates.xml`

/** The Atom feed of all new versions. */
export const updatesPath = `${FEEDS_FOLDER}/updates.xml`

/** The sitemap, which lists its parts. */
export const sitemapPath = 'sitemap.xml'

/** Folder of the parts of the sitemap. */
export const SITEMAPS_FOLDER = 'sitemaps'

/**
 * Crate ids in one part of the sitemap. The protocol allows 50,000; fewer, because each change of a
 * crate rewrites its part.
 */
export const SITEMAP_CRATES = 1000

/** A part of the sitemap: crates by id, or `pages` for all other pages. */
export function sitemapPartPath(part: number | 'pages'): string {
  return `${SITEMAPS_FOLDER}/${part}.xml`
}
