import type { Name } from './name.ts'
import { lowerPrefix, prefix } from './name.ts'
import type { Version } from './version.ts'

/** How long others may keep a file: `immutable` bytes never change under their path, `revalidate` needs an ETag check. */
export type CacheRule = 'immutable' | 'revalidate'

/** A place in the public tree: the path below its root, what the bytes are, and who may keep them. */
export interface Place {
  readonly path: string
  readonly contentType: string
  readonly cache: CacheRule
}

const TEXT = 'text/plain; charset=utf-8'
const JSON_TYPE = 'application/json'
const HTML = 'text/html; charset=utf-8'
const ATOM = 'application/atom+xml; charset=utf-8'

/** Folder of the sparse index; its URL is `sparse+{base}/index/`. */
export const INDEX_FOLDER = 'index'

/** Folder of the git index, where dumb clients find it. */
export const GIT_INDEX_FOLDER = 'index.git'

/** `index/config.json` (specification A.1). */
export const configPlace: Place = {
  path: 'index/config.json',
  contentType: JSON_TYPE,
  cache: 'revalidate',
}

/** Folder of stylesheet, scripts and pictures of the pages, below a name made of their content. */
export const ASSETS_FOLDER = 'assets'

/** Folder of the search page and of what its script reads. */
export const SEARCH_FOLDER = 'search'

/** Folder of the terms that the browser searches. */
export const TERMS_FOLDER = `${SEARCH_FOLDER}/terms`

/** Folder of the terms when they are spread over two to the power of `bits` files. */
export function searchBucketsFolder(bits: number): string {
  return `${TERMS_FOLDER}/${bits}`
}

/** The terms of one bucket. */
export function searchBucketPath(bits: number, bucket: number): string {
  return `${searchBucketsFolder(bits)}/${bucket}.json`
}

/** What the browser's search shows of a block of crates. */
export function searchBlockPath(block: number): string {
  return `${SEARCH_FOLDER}/crates/${block}.json`
}

/** The crates of a range that the common terms of a hash find. */
export function searchCommonPath(hash: number, range: number): string {
  return `${SEARCH_FOLDER}/common/${hash}/${range}.json`
}

/** The site map, and the folder of its parts. */
export const sitemapPath = 'sitemap.xml'
export const SITEMAPS_FOLDER = 'sitemaps'

/** A part of the site map. */
export function sitemapPartPath(part: number): string {
  return `${SITEMAPS_FOLDER}/${part}.xml`
}

/** Folder of the crates: their `.crate` files and pages. */
export const CRATES_FOLDER = 'crates'

/** What is answered for an address there is nothing at. */
export const notFoundPlace: Place = { path: '404.html', contentType: HTML, cache: 'revalidate' }

/** The index file of a crate, at the lowercase tier in which Cargo asks for it (specification A.2). */
export function indexPlace(name: Name): Place {
  return {
    path: `${INDEX_FOLDER}/${lowerPrefix(name)}/${name.toLowerCase()}`,
    contentType: TEXT,
    cache: 'revalidate',
  }
}

/** File name of a version's `.crate`, as published; `+` of build metadata stays raw, as Cargo asks for it. */
export function crateFile(name: Name, version: Version): string {
  return `${name}-${version}.crate`
}

/** The `.crate` of a version, where the default `dl` template leads. */
export function cratePlace(name: Name, version: Version): Place {
  return {
    path: `${CRATES_FOLDER}/${name}/${crateFile(name, version)}`,
    contentType: 'application/gzip',
    cache: 'immutable',
  }
}

/** The full record of a crate, for tools and for pages. */
export function crateRecordPlace(name: Name): Place {
  return {
    path: `${CRATES_FOLDER}/${name}/crate.json`,
    contentType: JSON_TYPE,
    cache: 'revalidate',
  }
}

/** The Atom feed of a crate's versions. */
export function crateFeedPlace(name: Name): Place {
  return { path: `${CRATES_FOLDER}/${name}/feed.xml`, contentType: ATOM, cache: 'revalidate' }
}

/** The page of a crate. */
export function cratePagePath(name: Name): string {
  return `${CRATES_FOLDER}/${name}/index.html`
}

/** The files of a crate's folder that are rendered of it as a whole. */
export function cratePagePaths(name: Name): string[] {
  return [crateRecordPlace(name).path, crateFeedPlace(name).path, cratePagePath(name)]
}

/** The page of a version; `+` of build metadata stays raw. */
export function versionPagePath(name: Name, version: Version): string {
  return `${CRATES_FOLDER}/${name}/${version}/index.html`
}

/** Folder of the source browser of a version. */
export function sourceFolder(name: Name, version: Version): string {
  return `${CRATES_FOLDER}/${name}/${version}/src`
}

/** The page of the list of crates whose canonical names begin with `prefix`. */
export function listPlace(prefix: string): Place {
  const path = `${CRATES_FOLDER}/index${prefix === '' ? '' : `-${prefix}`}.html`
  return { path, contentType: HTML, cache: 'revalidate' }
}

/** Whether a path can be that of a page of the list; no crate is called so, names have no dots. */
export function isListPath(path: string): boolean {
  return /^crates\/index(?:-[a-z0-9_]+)?\.html$/.test(path)
}

/** Folder of the registry's own feeds. */
export const FEEDS_FOLDER = 'feeds'

/** The Atom feed of new crates. */
export const newCratesPlace: Place = {
  path: `${FEEDS_FOLDER}/crates.xml`,
  contentType: ATOM,
  cache: 'revalidate',
}

/** The Atom feed of all new versions. */
export const updatesPlace: Place = {
  path: `${FEEDS_FOLDER}/updates.xml`,
  contentType: ATOM,
  cache: 'revalidate',
}

/**
 * Key of a `.crate` in the crate store. It names the bytes, so nothing is ever overwritten; lowercase, because names
 * differing only by case never coexist.
 */
export function crateKey(name: Name, cksum: string): string {
  return `${lowerPrefix(name)}/${name.toLowerCase()}/${cksum}.crate`
}

/** The default `dl` template below a base URL. */
export function defaultDl(baseUrl: string): string {
  return `${baseUrl}/crates/{crate}/{crate}-{version}.crate`
}

/** What the markers of a `dl` template stand for. */
export interface DownloadFacts {
  readonly name: Name
  readonly version: Version
  readonly cksum: string
}

/**
 * The download URL of a version under a `dl` template: the five markers are replaced as plain text; a template without
 * any gets `/{crate}/{version}/download` appended (specification A.1, Cargo's `download.rs`).
 */
export function expandDl(template: string, facts: DownloadFacts): string {
  const markers: Record<string, string> = {
    '{crate}': facts.name,
    '{version}': facts.version,
    '{prefix}': prefix(facts.name),
    '{lowerprefix}': lowerPrefix(facts.name),
    '{sha256-checksum}': facts.cksum,
  }
  const hasMarker = Object.keys(markers).some(marker => template.includes(marker))
  let url = hasMarker ? template : `${template}/{crate}/{version}/download`
  for (const [marker, value] of Object.entries(markers)) url = url.replaceAll(marker, () => value)
  return url
}

const TYPES: Readonly<Record<string, string>> = {
  html: HTML,
  json: JSON_TYPE,
  crate: 'application/gzip',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  xml: 'application/xml; charset=utf-8',
  atom: ATOM,
  txt: TEXT,
}

/** The place a path of the public tree is: what a server has to say of its bytes. Index files carry no extension. */
export function placeOf(path: string): Place {
  const inIndex = path.startsWith(`${INDEX_FOLDER}/`) && path !== configPlace.path
  const extension = /\.([a-z]+)$/.exec(path)?.[1] ?? ''
  const isFeed =
    extension === 'xml' && (path.startsWith(`${FEEDS_FOLDER}/`) || path.endsWith('/feed.xml'))
  const contentType = inIndex
    ? TEXT
    : isFeed
      ? ATOM
      : (TYPES[extension] ?? 'application/octet-stream')
  const isImmutable = extension === 'crate' || path.startsWith(`${ASSETS_FOLDER}/`)
  return { path, contentType, cache: isImmutable ? 'immutable' : 'revalidate' }
}
