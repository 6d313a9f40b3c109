/** One file of the public tree that the site makes. */
export interface SiteFile {
  /** Path below the root of the tree. */
  readonly path: string
  readonly contentType: string
  readonly body: string | Uint8Array
  /** `immutable` bytes never change under their path. */
  readonly cache: 'immutable' | 'revalidate'
}

const CONTENT_TYPES = {
  html: 'text/html; charset=utf-8',
  json: 'application/json',
  atom: 'application/atom+xml; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
  opensearch: 'application/opensearchdescription+xml; charset=utf-8',
  text: 'text/plain; charset=utf-8',
} as const

/** A file that changes when the registry does. */
export function siteFile(path: string, kind: keyof typeof CONTENT_TYPES, body: { toString(): string }): SiteFile {
  return { path, contentType: CONTENT_TYPES[kind], body: body.toString(), cache: 'revalidate' }
}
