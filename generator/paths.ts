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

/** Folder of the sparse index; its URL is `sparse+{base}/index/`. */
export const INDEX_FOLDER = 'index'

/** `index/config.json` (specification A.1). */
export const configPlace: Place = { path: 'index/config.json', contentType: JSON_TYPE, cache: 'revalidate' }

/** The front page. */
export const frontPage: Place = { path: 'index.html', contentType: HTML, cache: 'revalidate' }

/** The index file of a crate, at the lowercase tier in which Cargo asks for it (specification A.2). */
export function indexPlace(name: Name): Place {
  return { path: `${INDEX_FOLDER}/${lowerPrefix(name)}/${name.toLowerCase()}`, contentType: TEXT, cache: 'revalidate' }
}

/** File name of a version's `.crate`, as published; `+` of build metadata stays raw, as Cargo asks for it. */
export function crateFile(name: Name, version: Version): string {
  return `${name}-${version}.crate`
}

/** The `.crate` of a version, where the default `dl` template leads. */
export function cratePlace(name: Name, version: Version): Place {
  return { path: `crates/${name}/${crateFile(name, version)}`, contentType: 'application/gzip', cache: 'immutable' }
}

/** Key of a version's bytes in the crate store; lowercase folder, because names differing by case never coexist. */
export function crateKey(name: Name, version: Version): string {
  return `${lowerPrefix(name)}/${name.toLowerCase()}/${crateFile(name, version)}`
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
