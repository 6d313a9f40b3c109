import { realpathSync, type Stats, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { Readable } from 'node:stream'
import type { HonoRequest } from 'hono'
import { isImagePath, notFoundPath, placeOf } from '../../generator/index.ts'
import {
  type Asked,
  acceptsGzip,
  choose,
  type FileAnswer,
  type FilePart,
  type Variant,
  variantOf,
} from './file-answer.ts'
import { FileCache, type Held, isSameFile } from './file-cache.ts'

/** Files up to this size are read synchronously, which is faster than waiting for a thread. */
const SMALL_BYTES = 1024 * 1024
/** The chunk size for bigger files; one read costs about as much as copying this many bytes. */
const CHUNK_BYTES = 256 * 1024
/** The chunk size while more than `FEW` files are read: all of them together delay other answers. */
const SMALL_CHUNK_BYTES = 32 * 1024
const FEW = 16
let reading = 0

/** A drawing of a stranger may be opened as a page; it can do nothing there. */
const IMAGE_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}

/** Headers of files of packages: a browser may show them, but nothing in them may act. */
export const rawHeaders = {
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
} as const

/** The paths of files of packages. */
const RAW = /^crates\/[^/]+\/[^/]+\/raw\//

export interface PublicFilesOptions {
  /** Whether shared caches must not store the answers. */
  readonly isPrivate?: boolean
  /** Headers that every page has in addition to those of all files. */
  readonly pageHeaders?: Readonly<Record<string, string>>
  /** Memory for index files, pages and similar files; the same again for `.crate` files. */
  readonly capacityBytes?: number
  /** Receives the path of each `.crate` of the tree whose download begins. */
  readonly onDownload?: (path: string) => void
}

type Found = FileAnswer | Promise<FileAnswer> | null

/**
 * Serves the public tree: strong ETags, 304, gzip for text, single ranges for `.crate` files.
 * Every request checks the file system, so no answer is outdated.
 */
export class PublicFiles {
  readonly #root: string
  readonly #scope: 'public' | 'private'
  readonly #pageHeaders: Readonly<Record<string, string>>
  readonly #texts: FileCache
  readonly #crates: FileCache
  readonly #keepable: number
  /** Counts an answer that is being sent if it is a download. */
  readonly counted: (answer: FileAnswer) => void
  readonly #variants = new WeakMap<Held, Record<'plain' | 'zipped', Variant>>()

  constructor(root: string, options: PublicFilesOptions = {}) {
    const { isPrivate = false, pageHeaders = {}, capacityBytes = 64 * SMALL_BYTES } = options
    const { onDownload } = options
    this.counted = ({ download }) => {
      if (download !== undefined) onDownload?.(download)
    }
    this.#root = root
    this.#pageHeaders = pageHeaders
    this.#scope = isPrivate ? 'private' : 'public'
    this.#texts = new FileCache(capacityBytes)
    this.#crates = new FileCache(capacityBytes)
    this.#keepable = capacityBytes / 8
  }

  /** Answers a request for the percent-encoded `pathname`; null if the tree has no such file. */
  serve(pathname: string, request: HonoRequest): Response | Promise<Response> | null {
    const answer = this.#find(pathname, request)
    if (answer === null) return null
    return 'then' in answer
      ? answer.then(found => this.#respond(pathname, request, found))
      : this.#respond(pathname, request, answer)
  }

  /** Does the same if nothing has to be read first: file in memory, or streamed. Otherwise null. */
  atOnce(pathname: string, asked: Asked): FileAnswer | null {
    const path = decodePath(pathname.endsWith('/') ? `${pathname}index.html` : pathname)
    if (path === null) return null
    const file = `${this.#root}/${path}`
    const stats = look(file)
    return stats?.isFile() ? this.#known(file, path, stats, asked) : null
  }

  /** Answers with the tree's 404 page; null if it has none. */
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

  #find(pathname: string, request: HonoRequest): Found {
    const path = decodePath(pathname)
    if (path === null) return null
    const file = `${this.#root}/${path}`
    const stats = look(file)
    if (stats?.isDirectory()) return this.#folder(pathname, path, request)
    if (!stats?.isFile() || pathname.endsWith('/')) return null
    const known = this.#known(file, path, stats, request)
    if (known) return known
    if (!this.#isInside(file)) return null
    const isCrate = path.endsWith('.crate')
    const memory = isCrate ? this.#crates : this.#texts
    const whole = (held: Held) => this.#whole(held, path, request)
    if (stats.size <= SMALL_BYTES) return whole(memory.load(file, stats, !isCrate))
    if (!isCrate && stats.size <= this.#keepable)
      return memory.loadLater(file, stats, true).then(whole)
    return this.#crates.tag(file, stats).then(tag => this.#part(tag, file, path, stats, request))
  }

  /** Returns the answer if memory has the content or the tag of the file, otherwise null. */
  #known(file: string, path: string, stats: Stats, asked: Asked): FileAnswer | null {
    const memory = path.endsWith('.crate') ? this.#crates : this.#texts
    const held = memory.find(file, stats)
    if (held) return this.#whole(held, path, asked)
    const tag = stats.size > SMALL_BYTES ? this.#crates.findTag(file, stats) : null
    return tag === null ? null : this.#part(tag, file, path, stats, asked)
  }

  #folder(pathname: string, path: string, request: HonoRequest): Found {
    const index = path === '' ? 'index.html' : `${path}/index.html`
    if (!look(join(this.#root, index))?.isFile()) return null
    if (pathname.endsWith('/')) return this.#find(`/${encodeURI(index)}`, request)
    // A relative target keeps the host and the path prefix of the client's request.
    const last = pathname.slice(pathname.lastIndexOf('/') + 1)
    const location = `./${last}/${new URL(request.url).search}`
    return { status: 301, headers: { location, 'cache-control': 'no-cache' }, body: null }
  }

  /** Returns whether a file is inside the tree: a symbolic link may not lead out of it. */
  #isInside(file: string): boolean {
    return realpathSync(file).startsWith(realpathSync(this.#root) + sep)
  }

  #whole(held: Held, path: string, asked: Asked): FileAnswer {
    let variants = this.#variants.get(held)
    if (!variants) {
      const { tag, bytes, gzip } = held
      const more = gzip ? { vary: 'accept-encoding' } : { 'accept-ranges': 'bytes' }
      const plain = variantOf(path, { ...this.#headers(path, tag), ...more }, bytes)
      const headers = { ...this.#headers(path, `${tag}-gz`), ...more }
      const zipped = gzip ? variantOf(path, headers, gzip, { 'content-encoding': 'gzip' }) : plain
      variants = { plain, zipped }
      this.#variants.set(held, variants)
    }
    const isZipped = held.gzip !== null && acceptsGzip(asked.header('accept-encoding'))
    return choose(isZipped ? variants.zipped : variants.plain, held.tag, asked)
  }

  #part(tag: string, file: string, path: string, stats: Stats, asked: Asked): FileAnswer {
    const headers = { ...this.#headers(path, tag), 'accept-ranges': 'bytes' }
    const whole = { file, stats, start: 0, end: stats.size - 1 }
    return choose(variantOf(path, headers, whole), tag, asked)
  }

  #headers(path: string, tag: string): Record<string, string> {
    const { contentType, cache } = placeOf(path)
    const isImmutable = cache === 'immutable'
    const scope = this.#scope === 'private' || isImmutable ? `${this.#scope}, ` : ''
    return {
      ...(contentType.startsWith('text/html') && this.#pageHeaders),
      ...(isImagePath(path) && IMAGE_HEADERS),
      ...(RAW.test(path) && rawHeaders),
      'content-type': contentType,
      'cache-control': `${scope}${isImmutable ? 'max-age=31536000, immutable' : 'no-cache'}`,
      'x-content-type-options': 'nosniff',
      etag: `"${tag}"`,
    }
  }

  #respond(
    pathname: string,
    request: HonoRequest,
    answer: FileAnswer,
  ): Response | Promise<Response> {
    const { status, headers, body } = answer
    const init = { status, headers }
    if (body === null || Buffer.isBuffer(body)) {
      this.counted(answer)
      return new Response(body, init)
    }
    return openPart(body).then(async stream => {
      if (stream) this.counted(answer)
      const again = stream ? null : await this.serve(pathname, request)
      return again ?? new Response(stream && (Readable.toWeb(stream) as ReadableStream), init)
    })
  }
}

/** Paths in which there is nothing to decode or to refuse. */
const PLAIN = /^(?:\/[\w+-][\w.+-]*)+$/

/**
 * Returns the tree path of a URL path; null for `..`, hidden or temporary files, separators encoded
 * as `%2F`, `%5C` or `%00`, and NTFS streams. `+` stays `+`.
 */
export function decodePath(pathname: string): string | null {
  if (PLAIN.test(pathname)) return pathname.slice(1)
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
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the regex finds control characters
    if (segment.startsWith('.') || /[/\\:\x00-\x1f\x7f]/.test(segment)) return null
    segments.push(segment)
  }
  return segments.join('/')
}

const NOTHING_THERE = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'])

/** Returns the stats of a path; undefined if there is no file, or cannot be. */
function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (NOTHING_THERE.has((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** Streams a part of the file of `stats`; null if another file has replaced it since. */
export async function openPart({ file, stats, start, end }: FilePart): Promise<Readable | null> {
  const handle = await open(file)
  if (!isSameFile(await handle.stat(), stats)) {
    await handle.close()
    return null
  }
  const highWaterMark = ++reading > FEW ? SMALL_CHUNK_BYTES : CHUNK_BYTES
  const stream = handle.createReadStream({ start, end, highWaterMark })
  stream.once('close', () => reading--)
  return stream
}
