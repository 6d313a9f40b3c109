import { realpathSync, type Stats, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { Readable } from 'node:stream'
import type { HonoRequest } from 'hono'
import { notFoundPath, type Place, placeOf } from '../../generator/index.ts'
import { isKnown } from '../http/answer.ts'
import { FileCache, type Held } from './file-cache.ts'

/** Files up to this size are read at once; reading is quicker than waiting for it. */
const SMALL_BYTES = 1024 * 1024

export interface PublicFilesOptions {
  /** Whether shared caches must not keep the answers. */
  readonly isPrivate?: boolean
  /** Headers that every page has beyond those of any file. */
  readonly pageHeaders?: Readonly<Record<string, string>>
  /** Memory for index files, pages and the like; as much again for `.crate` files. */
  readonly capacityBytes?: number
}

/**
 * The public tree over HTTP: strong ETags, 304, gzip for text, single ranges for `.crate` files.
 * Every request looks at the file system, so no answer is older than the file.
 */
export class PublicFiles {
  readonly #root: string
  readonly #scope: 'public' | 'private'
  readonly #pageHeaders: Readonly<Record<string, string>>
  readonly #texts: FileCache
  readonly #crates: FileCache
  readonly #keepable: number

  constructor(root: string, options: PublicFilesOptions = {}) {
    const { isPrivate = false, pageHeaders = {}, capacityBytes = 64 * SMALL_BYTES } = options
    this.#root = root
    this.#pageHeaders = pageHeaders
    this.#scope = isPrivate ? 'private' : 'public'
    this.#texts = new FileCache(capacityBytes)
    this.#crates = new FileCache(capacityBytes)
    this.#keepable = capacityBytes / 8
  }

  /** The answer for the percent-encoded path `pathname`; null when the tree has no such file. */
  serve(pathname: string, request: HonoRequest): Response | Promise<Response> | null {
    const path = decodePath(pathname)
    if (path === null) return null
    const file = join(this.#root, path)
    const stats = look(file)
    if (stats?.isDirectory()) return this.#folder(pathname, path, request)
    if (!stats?.isFile() || pathname.endsWith('/')) return null
    const place = placeOf(path)
    const isCrate = path.endsWith('.crate')
    const memory = isCrate ? this.#crates : this.#texts
    const known = memory.find(file, stats)
    if (known) return this.#whole(known, place, request)
    if (!this.#isInside(file)) return null
    if (stats.size <= SMALL_BYTES)
      return this.#whole(memory.load(file, stats, !isCrate), place, request)
    if (isCrate || stats.size > this.#keepable) return this.#streamed(file, stats, place, request)
    return memory.loadLater(file, stats, true).then(held => this.#whole(held, place, request))
  }

  /** The tree's own 404 page; null when it has none. */
  missing({ method }: HonoRequest): Response | null {
    const file = join(this.#root, notFoundPath)
    const stats = look(file)
    if (!stats?.isFile()) return null
    const { bytes } = this.#texts.find(file, stats) ?? this.#texts.load(file, stats, true)
    const headers = {
      ...this.#pageHeaders,
      'content-type': placeOf(notFoundPath).contentType,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-length': String(bytes.byteLength),
    }
    return new Response(method === 'HEAD' ? null : bytes, { status: 404, headers })
  }

  #folder(
    pathname: string,
    path: string,
    request: HonoRequest,
  ): Response | Promise<Response> | null {
    const index = path === '' ? 'index.html' : `${path}/index.html`
    if (!look(join(this.#root, index))?.isFile()) return null
    if (pathname.endsWith('/')) return this.serve(`/${encodeURI(index)}`, request)
    // A relative target keeps the redirect on whatever host and prefix the reader came by.
    const last = pathname.slice(pathname.lastIndexOf('/') + 1)
    return new Response(null, {
      status: 301,
      headers: {
        location: `./${last}/${new URL(request.url).search}`,
        'cache-control': 'no-cache',
      },
    })
  }

  /** A link in the tree may not lead out of it. */
  #isInside(file: string): boolean {
    return realpathSync(file).startsWith(realpathSync(this.#root) + sep)
  }

  #whole({ tag, bytes, gzip }: Held, place: Place, request: HonoRequest): Response {
    const zipped = gzip && acceptsGzip(request.header('accept-encoding')) ? gzip : null
    const body = zipped ?? bytes
    const headers = this.#headers(place, zipped ? `${tag}-gz` : tag)
    if (gzip) headers.vary = 'accept-encoding'
    else headers['accept-ranges'] = 'bytes'
    const { part, ...init } = plan(request, tag, body.byteLength, headers)
    if (zipped && init.status === 200) headers['content-encoding'] = 'gzip'
    return new Response(part && body.subarray(part.start, part.end + 1), init)
  }

  async #streamed(
    file: string,
    stats: Stats,
    place: Place,
    request: HonoRequest,
  ): Promise<Response> {
    const tag = await this.#crates.tag(file, stats)
    const headers = { ...this.#headers(place, tag), 'accept-ranges': 'bytes' }
    const { part, ...init } = plan(request, tag, stats.size, headers)
    const body = part && (await stream(file, stats, part))
    if (body === 'replaced') return this.#streamed(file, statSync(file), place, request)
    return new Response(body, init)
  }

  #headers(place: Place, tag: string): Record<string, string> {
    const isImmutable = place.cache === 'immutable'
    const scope = this.#scope === 'private' || isImmutable ? `${this.#scope}, ` : ''
    return {
      ...(place.contentType.startsWith('text/html') && this.#pageHeaders),
      'content-type': place.contentType,
      'cache-control': `${scope}${isImmutable ? 'max-age=31536000, immutable' : 'no-cache'}`,
      'x-content-type-options': 'nosniff',
      etag: `"${tag}"`,
    }
  }
}

/**
 * The path in the tree that a URL path means; null for `..`, hidden or half-written files,
 * separators hidden in `%2F`, `%5C` or `%00`, and NTFS streams. `+` stays `+`.
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
    if (segment.startsWith('.') || /[/\\:\x00-\x1f\x7f]/.test(segment)) return null
    segments.push(segment)
  }
  return segments.join('/')
}

const NOTHING_THERE = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'])

/** What is at a path; undefined when nothing can be. */
function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (NOTHING_THERE.has((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** The bytes of the very file that was looked at, which another may have replaced meanwhile. */
async function stream(
  file: string,
  stats: Stats,
  part: Part,
): Promise<ReadableStream | 'replaced'> {
  const handle = await open(file)
  const now = await handle.stat()
  if (now.ino !== stats.ino || now.size !== stats.size || now.mtimeMs !== stats.mtimeMs) {
    await handle.close()
    return 'replaced'
  }
  return Readable.toWeb(handle.createReadStream({ ...part })) as ReadableStream
}

/** Status and headers of an answer of `size` bytes, and which of them go with it; null for none. */
function plan(request: HonoRequest, tag: string, size: number, headers: Record<string, string>) {
  if (isKnown(request.header('if-none-match'), tag)) return { status: 304, headers, part: null }
  const range = headers['accept-ranges'] ? partOf(request, size, tag) : null
  if (range === 'unsatisfiable')
    return { status: 416, headers: { 'content-range': `bytes */${size}` }, part: null }
  const part = range ?? { start: 0, end: size - 1 }
  headers['content-length'] = String(part.end - part.start + 1)
  if (range) headers['content-range'] = `bytes ${part.start}-${part.end}/${size}`
  return { status: range ? 206 : 200, headers, part: request.method === 'HEAD' ? null : part }
}

/** Whether `Accept-Encoding` allows gzip, by name or `*`, with a weight above 0 (RFC 9110). */
function acceptsGzip(header: string | undefined): boolean {
  if (header === undefined) return false
  let star = false
  for (const one of header.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = one.split(';').map(part => part.trim())
    const isRefused = parameters.some(parameter => /^q\s*=\s*0(\.0*)?$/.test(parameter))
    if (coding === 'gzip' || coding === 'x-gzip') return !isRefused
    if (coding === '*') star = !isRefused
  }
  return star
}

/** First and last byte of a part, both included. */
interface Part {
  readonly start: number
  readonly end: number
}

/**
 * The range that a GET asks for (RFC 9110 §14.2). Null, the whole file, also answers several or
 * malformed ranges, and an `If-Range` that does not match.
 */
function partOf(request: HonoRequest, size: number, tag: string): Part | 'unsatisfiable' | null {
  if (request.method !== 'GET') return null
  const ifRange = request.header('if-range')
  if (ifRange !== undefined && ifRange.trim() !== `"${tag}"`) return null
  const range = request.header('range')?.trim() ?? ''
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? []
  if (first === '' && last === '') return null
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (first !== '' && last !== '' && Number(last) < start) return null
  if (start >= size || (first === '' && Number(last) === 0)) return 'unsatisfiable'
  return { start, end }
}
