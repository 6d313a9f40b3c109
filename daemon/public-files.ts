import { createHash } from 'node:crypto'
import { createReadStream, readFileSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import type { Context } from 'hono'
import { type Place, placeOf } from '../generator/index.ts'

/** Files above this size are streamed from disk each time; the others live in memory while they are asked for. */
const MEMORY_FILE_BYTES = 1024 * 1024
const GZIP_FROM_BYTES = 1024

interface Cached {
  readonly stamp: string
  readonly etag: string
  readonly bytes: Buffer
  readonly gzip: Buffer | null
}

/** What a request asks for, besides the path. */
export interface FileRequest {
  readonly method: string
  readonly ifNoneMatch: string | undefined
  readonly acceptEncoding: string | undefined
  readonly range: string | undefined
}

/** What a Hono request asks of the tree. */
export function fileRequest(c: Context): FileRequest {
  return {
    method: c.req.method,
    ifNoneMatch: c.req.header('if-none-match'),
    acceptEncoding: c.req.header('accept-encoding'),
    range: c.req.header('range'),
  }
}

/**
 * The public tree over HTTP: strong ETags from the content, 304, gzip for text, single ranges for `.crate` files.
 * Every request looks at the file system, so an answer is never older than the file; memory only spares the reading.
 */
export class PublicFiles {
  readonly #root: string
  readonly #capacity: number
  #size = 0
  /** In order of last use. */
  readonly #cache = new Map<string, Cached>()

  constructor(root: string, capacityBytes = 64 * 1024 * 1024) {
    this.#root = root
    this.#capacity = capacityBytes
  }

  /** Answers a request for the percent-encoded path `pathname`; null when the tree has no such file. */
  serve(pathname: string, request: FileRequest): Response | null {
    const path = decodePath(pathname)
    if (path === null) return null
    const file = join(this.#root, path)
    const stats = statSync(file, { throwIfNoEntry: false })
    if (!stats) return null
    if (stats.isDirectory()) return this.#folder(pathname, path, request)
    const place = placeOf(path)
    if (place.contentType === 'application/gzip' || stats.size > MEMORY_FILE_BYTES) {
      return streamed(file, stats, place, request)
    }
    return this.#fromMemory(file, stats, place, request)
  }

  #folder(pathname: string, path: string, request: FileRequest): Response | null {
    const index = path === '' ? 'index.html' : `${path}/index.html`
    if (!statSync(join(this.#root, index), { throwIfNoEntry: false })) return null
    if (pathname.endsWith('/')) return this.serve(`/${encodeURI(index)}`, request)
    // A relative target keeps the redirect on whatever host and prefix the reader came by.
    const last = pathname.slice(pathname.lastIndexOf('/') + 1)
    return new Response(null, { status: 301, headers: { location: `./${last}/` } })
  }

  #fromMemory(file: string, stats: Stats, place: Place, request: FileRequest): Response {
    const cached = this.#load(file, stats, place)
    const useGzip = cached.gzip !== null && acceptsGzip(request.acceptEncoding)
    const etag = useGzip ? `"${cached.etag}-gz"` : `"${cached.etag}"`
    const headers: Record<string, string> = { ...headersOf(place), etag }
    if (cached.gzip) headers.vary = 'accept-encoding'
    if (matches(request.ifNoneMatch, cached.etag)) return new Response(null, { status: 304, headers })
    const body = useGzip && cached.gzip ? cached.gzip : cached.bytes
    if (useGzip) headers['content-encoding'] = 'gzip'
    headers['content-length'] = String(body.byteLength)
    return new Response(request.method === 'HEAD' ? null : new Uint8Array(body), { headers })
  }

  #load(file: string, stats: Stats, place: Place): Cached {
    const stamp = `${stats.ino}-${stats.mtimeMs}-${stats.ctimeMs}-${stats.size}`
    const known = this.#cache.get(file)
    if (known?.stamp === stamp) {
      this.#cache.delete(file)
      this.#cache.set(file, known)
      return known
    }
    const bytes = readFileSync(file)
    const isText = !place.contentType.startsWith('image/png') && bytes.byteLength >= GZIP_FROM_BYTES
    const cached: Cached = {
      stamp,
      etag: createHash('sha256').update(bytes).digest('hex').slice(0, 32),
      bytes,
      gzip: isText ? gzipSync(bytes) : null,
    }
    this.#remember(file, cached)
    return cached
  }

  #remember(file: string, cached: Cached): void {
    this.#size += weight(cached) - weight(this.#cache.get(file))
    this.#cache.delete(file)
    this.#cache.set(file, cached)
    for (const [oldest, entry] of this.#cache) {
      if (this.#size <= this.#capacity) return
      this.#cache.delete(oldest)
      this.#size -= weight(entry)
    }
  }
}

/**
 * The path in the tree that a URL path means, or null when it can mean none: only percent-decoding (a `+` stays `+`),
 * no `..`, no hidden or half-written files, no separators smuggled in by `%2F`, `%5C` or `%00`.
 */
export function decodePath(pathname: string): string | null {
  const segments: string[] = []
  for (const raw of pathname.split('/')) {
    if (raw === '') continue
    let segment: string
    try {
      segment = decodeURIComponent(raw)
    } catch (error) {
      if (error instanceof URIError) return null
      throw error
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    if (segment.startsWith('.') || /[/\\\x00-\x1f]/.test(segment)) return null
    segments.push(segment)
  }
  return segments.join('/')
}

/** `.crate` files never change under their name, so size and time of the file identify the bytes. */
function streamed(file: string, stats: Stats, place: Place, request: FileRequest): Response {
  const tag = `${stats.size.toString(16)}-${Math.trunc(stats.mtimeMs).toString(16)}`
  const headers: Record<string, string> = { ...headersOf(place), etag: `"${tag}"`, 'accept-ranges': 'bytes' }
  if (matches(request.ifNoneMatch, tag)) return new Response(null, { status: 304, headers })
  const range = parseRange(request.range, stats.size)
  if (range === 'unsatisfiable') {
    return new Response(null, { status: 416, headers: { 'content-range': `bytes */${stats.size}` } })
  }
  const { start, end } = range ?? { start: 0, end: stats.size - 1 }
  headers['content-length'] = String(end - start + 1)
  if (range) headers['content-range'] = `bytes ${start}-${end}/${stats.size}`
  const body =
    request.method === 'HEAD' || stats.size === 0
      ? null
      : (Readable.toWeb(createReadStream(file, { start, end })) as ReadableStream<Uint8Array>)
  return new Response(body, { status: range ? 206 : 200, headers })
}

function headersOf(place: Place): Record<string, string> {
  const cacheControl = place.cache === 'immutable' ? 'public, max-age=31536000, immutable' : 'no-cache'
  return { 'content-type': place.contentType, 'cache-control': cacheControl }
}

/** Whether an `If-None-Match` names a tag (RFC 9110 §13.1.2: weak comparison; either encoding of the content). */
function matches(header: string | undefined, etag: string): boolean {
  if (!header) return false
  return header.split(',').some(one => {
    const tag = one.trim().replace(/^W\//, '')
    return tag === '*' || tag === `"${etag}"` || tag === `"${etag}-gz"`
  })
}

function acceptsGzip(header: string | undefined): boolean {
  return /(^|,)\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[\d.]+\s*)?(,|$)/i.test(header ?? '')
}

/** The one byte range a request asks for (RFC 9110 §14.1.2); null for none, several, or one that is no byte range. */
function parseRange(header: string | undefined, size: number): { start: number; end: number } | 'unsatisfiable' | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '')
  if (!match || (match[1] === '' && match[2] === '')) return null
  const [first, last] = [match[1] ?? '', match[2] ?? '']
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (start >= size || (first === '' && Number(last) === 0)) return 'unsatisfiable'
  return end < start ? null : { start, end }
}

function weight(cached: Cached | undefined): number {
  return cached ? cached.bytes.byteLength + (cached.gzip?.byteLength ?? 0) + 200 : 0
}
