import { isKnown } from '../http/answer.ts'
import type { Held } from './file-cache.ts'
import type { FileHeaders } from './file-headers.ts'
import type { FilePart, Part } from './file-part.ts'

export interface Asked {
  readonly method: string
  header(name: string): string | undefined
}

/** An answer from the tree, not sent yet. Requests share it, so it must not be changed. */
export interface FileAnswer<P extends Part = FilePart> {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | P | null
  /** The path of the `.crate` in the tree if this answer counts as a download of it. */
  readonly download?: string
}

/** A file in one encoding: the answer with its bytes, and the 304 for clients that have them. */
export interface Variant<P extends Part = FilePart> {
  readonly full: FileAnswer<P>
  readonly notModified: FileAnswer<P>
}

/** Returns both answers for an encoding; only the full one has `more` and counts as a download. */
export function variantOf<P extends Part = FilePart>(
  path: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer | P,
  more: Readonly<Record<string, string>> = {},
): Variant<P> {
  const full = { ...headers, ...more, 'content-length': String(sizeOf(body)) }
  const download = path.endsWith('.crate') ? { download: path } : {}
  return {
    full: { status: 200, headers: full, body, ...download },
    notModified: { status: 304, headers, body: null },
  }
}

function sizeOf(body: Buffer | Part): number {
  return Buffer.isBuffer(body) ? body.byteLength : body.end - body.start + 1
}

/** Returns the answers for content in memory: plain, and compressed where that is worthwhile. */
export function variantsOf<P extends Part = FilePart>(
  path: string,
  { tag, bytes, gzip }: Held,
  headersOf: FileHeaders,
): Record<'plain' | 'zipped', Variant<P>> {
  const more = gzip ? { vary: 'accept-encoding' } : { 'accept-ranges': 'bytes' }
  const plain = variantOf<P>(path, { ...headersOf(path, tag), ...more }, bytes)
  if (!gzip) return { plain, zipped: plain }
  const headers = { ...headersOf(path, `${tag}-gz`), ...more }
  return { plain, zipped: variantOf<P>(path, headers, gzip, { 'content-encoding': 'gzip' }) }
}

/** Returns which of these answers a request gets. */
export function chooseOf<P extends Part = FilePart>(
  { plain, zipped }: Record<'plain' | 'zipped', Variant<P>>,
  tag: string,
  asked: Asked,
): FileAnswer<P> {
  const isZipped = plain !== zipped && acceptsGzip(asked.header('accept-encoding'))
  return choose(isZipped ? zipped : plain, tag, asked)
}

/** Answers a request for content in memory. */
export function answerHeld(
  path: string,
  held: Held,
  headersOf: FileHeaders,
  asked: Asked,
): Response {
  const { body, ...answer } = chooseOf<Part>(variantsOf(path, held, headersOf), held.tag, asked)
  return new Response(Buffer.isBuffer(body) ? new Uint8Array(body) : null, answer)
}

/** Returns the answer to a request, which may be conditional or for a range (RFC 9110). */
export function choose<P extends Part = FilePart>(
  { full, notModified }: Variant<P>,
  tag: string,
  asked: Asked,
): FileAnswer<P> {
  const { status, headers, body } = full
  const isCounted = full.download !== undefined && !isReader(asked)
  const download = isCounted ? full.download : undefined
  const has = asked.header('if-none-match')
  if (body === null || has === headers.etag || isKnown(has, tag)) return notModified
  if (asked.method === 'HEAD') return { status, headers, body: null }
  const size = sizeOf(body)
  const range = headers['accept-ranges'] ? partOf(asked, size, tag) : null
  if (range === null) return download === full.download ? full : { status, headers, body }
  if (range === 'unsatisfiable')
    return { status: 416, headers: { 'content-range': `bytes */${size}` }, body: null }
  const { start, end } = range
  const part = Buffer.isBuffer(body) ? body.subarray(start, end + 1) : { ...body, ...range }
  const more = {
    'content-length': String(end - start + 1),
    'content-range': `bytes ${start}-${end}/${size}`,
  }
  // The parts of a file that a client fetches one by one are one download.
  const first = start === 0 && download !== undefined ? { download } : {}
  return { status: 206, headers: { ...headers, ...more }, body: part, ...first }
}

/** Whether a page asks to show sources, or a browser before anybody clicks: neither downloads. */
export function isReader(asked: Pick<Asked, 'header'>): boolean {
  const isEarly = asked.header('sec-purpose')?.startsWith('prefetch') === true
  return isEarly || asked.header('accept')?.includes('reader=sources') === true
}

/** Match gzip without a weight, by name or `*`, or with one above 0; and by name with one of 0. */
const GZIP = /(?:^|,)\s*(?:(?:x-)?gzip|\*)\s*(?:$|,|;\s*q\s*=\s*(?!0(?:\.0*)?\s*(?:$|,)))/i
const NO_GZIP = /(?:^|,)\s*(?:x-)?gzip\s*;\s*q\s*=\s*0(?:\.0*)?\s*(?:$|,)/i

/** Returns whether `Accept-Encoding` allows gzip. */
function acceptsGzip(header: string | undefined): boolean {
  return (
    header !== undefined && GZIP.test(header) && !(header.includes(';') && NO_GZIP.test(header))
  )
}

/**
 * Returns the range that a GET requests (RFC 9110 §14.2). Returns null, the whole file, also for
 * several or malformed ranges, and for an `If-Range` that does not match.
 */
function partOf(asked: Asked, size: number, tag: string): Part | 'unsatisfiable' | null {
  if (asked.method !== 'GET') return null
  const ifRange = asked.header('if-range')
  if (ifRange !== undefined && ifRange.trim() !== `"${tag}"`) return null
  const range = asked.header('range')?.trim() ?? ''
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? []
  if (first === '' && last === '') return null
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (first !== '' && last !== '' && Number(last) < start) return null
  if (start >= size || (first === '' && Number(last) === 0)) return 'unsatisfiable'
  return { start, end }
}
