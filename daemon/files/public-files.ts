// daemon/files: Answers with files, of a folder or a bucket. app.ts calls it; it never changes one.
import { realpathSync, type Stats, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { Context, HonoRequest } from 'hono'
import { configPath, notFoundPath } from '../../core/paths/tree.ts'
import type { ChangeNumber } from '../../generator/places/change-number.ts'
import {
  type Asked,
  choose,
  chooseOf,
  type FileAnswer,
  type Variant,
  variantOf,
  variantsOf,
} from './file-answer.ts'
import { FileCache, type Held, tagOf } from './file-cache.ts'
import {
  type FileHeaders,
  fileHeaders,
  notFound,
  type TreeOptions,
  toFolder,
} from './file-headers.ts'
import { openPart } from './file-part.ts'
import { webStream } from './web-stream.ts'

/** Files up to this size are read synchronously, which is faster than waiting for a thread. */
const SMALL_BYTES = 1024 * 1024

export interface TreeFiles {
  /** Answers a request for the percent-encoded `pathname`; null if the tree has no such file. */
  serve(pathname: string, c: Context): Promise<Response | null>
  missing(c: Context): Response | null | Promise<Response | null>
}

export interface PublicFilesOptions extends TreeOptions {
  /** Memory for index files, pages and similar files; the same again for `.crate` files. */
  readonly capacityBytes?: number
  /** The number that every change of the tree renews; without it, requests look at the file. */
  readonly changes?: Pick<ChangeNumber, 'read'> | null
  readonly onDownload?: ((path: string) => void) | undefined
}

/**
 * Serves the public tree: strong ETags, 304, gzip for text, single ranges for `.crate` files.
 * Every request checks the file, or whether anything in the tree has changed, so no answer is
 * outdated.
 */
export class PublicFiles implements TreeFiles {
  readonly #root: string
  readonly #pageHeaders: Readonly<Record<string, string>>
  readonly #texts: FileCache
  readonly #crates: FileCache
  readonly #keepable: number
  readonly #headers: FileHeaders
  readonly #changes: Pick<ChangeNumber, 'read'> | null
  readonly #config: Held | null
  readonly counted: (answer: FileAnswer) => void
  readonly #variants = new WeakMap<Held, Record<'plain' | 'zipped', Variant>>()

  constructor(root: string, options: PublicFilesOptions = {}) {
    const { pageHeaders = {}, capacityBytes = 64 * SMALL_BYTES } = options
    const { onDownload, changes = null, config } = options
    this.#changes = changes
    this.#config = config ? { tag: tagOf(config), bytes: config, gzip: null } : null
    this.counted = ({ download }) => {
      if (download !== undefined) onDownload?.(download)
    }
    this.#root = root
    this.#pageHeaders = pageHeaders
    this.#headers = fileHeaders(options)
    this.#texts = new FileCache(capacityBytes)
    this.#crates = new FileCache(capacityBytes)
    this.#keepable = capacityBytes / 8
  }

  async serve(pathname: string, { req: request }: Pick<Context, 'req'>): Promise<Response | null> {
    const answer = await this.#find(pathname, request)
    if (answer === null) return null
    const { status, headers, body } = answer
    const init = { status, headers }
    if (body === null || Buffer.isBuffer(body)) {
      this.counted(answer)
      return new Response(body, init)
    }
    const part = await openPart(body)
    if (!part) return (await this.serve(pathname, { req: request })) ?? new Response(null, init)
    this.counted(answer)
    return new Response(webStream(part.stream()), init)
  }

  /** Does the same if nothing has to be read first, else returns null; `time` is now, in ms. */
  atOnce(pathname: string, asked: Asked, time: number): FileAnswer | null {
    if (pathname === `/${configPath}` && this.#config)
      return this.#whole(this.#config, configPath, asked)
    const filePath = pathname.endsWith('/') ? `${pathname}index.html` : pathname
    const moment = this.#changes && { change: this.#changes.read(), time }
    // Whatever is in memory has the path of a file that was served.
    if (moment) {
      const held = this.#memoryOf(filePath).recall(this.#root + filePath, moment)
      if (held) return this.#whole(held, filePath.slice(1), asked)
    }
    const path = decodePath(filePath)
    if (path === null) return null
    const file = `${this.#root}/${path}`
    const stats = look(file)
    const answer = stats?.isFile() ? this.#cached(file, path, stats, asked) : null
    if (answer && moment) this.#memoryOf(path).saw(file, moment)
    return answer
  }

  missing({ req: { method } }: Pick<Context, 'req'>): Response | null {
    const file = join(this.#root, notFoundPath)
    const stats = look(file)
    if (!stats?.isFile()) return null
    const { bytes } = this.#texts.find(file, stats) ?? this.#texts.load(file, stats, true)
    return notFound(method, bytes, this.#pageHeaders)
  }

  async #find(pathname: string, request: HonoRequest): Promise<FileAnswer | null> {
    const path = decodePath(pathname.endsWith('/') ? `${pathname}index.html` : pathname)
    if (path === null) return null
    if (path === configPath && this.#config) return this.#whole(this.#config, path, request)
    const file = `${this.#root}/${path}`
    const stats = look(file)
    if (stats?.isDirectory() && look(join(file, 'index.html'))?.isFile())
      return { ...toFolder(pathname, request.url), body: null }
    if (!stats?.isFile()) return null
    const cached = this.#cached(file, path, stats, request)
    if (cached) return cached
    // A symbolic link may not lead out of the tree.
    if (!realpathSync(file).startsWith(realpathSync(this.#root) + sep)) return null
    const isCrate = path.endsWith('.crate')
    const memory = this.#memoryOf(path)
    const whole = (held: Held) => this.#whole(held, path, request)
    if (stats.size <= SMALL_BYTES) return whole(memory.load(file, stats, !isCrate))
    if (!isCrate && stats.size <= this.#keepable)
      return whole(await memory.loadLater(file, stats, true))
    return this.#part(await this.#crates.tag(file, stats), file, path, stats, request)
  }

  #cached(file: string, path: string, stats: Stats, asked: Asked): FileAnswer | null {
    const held = this.#memoryOf(path).find(file, stats)
    if (held) return this.#whole(held, path, asked)
    const tag = stats.size > SMALL_BYTES ? this.#crates.findTag(file, stats) : null
    return tag === null ? null : this.#part(tag, file, path, stats, asked)
  }

  #memoryOf(path: string): FileCache {
    return path.endsWith('.crate') ? this.#crates : this.#texts
  }

  #whole(held: Held, path: string, asked: Asked): FileAnswer {
    const variants = this.#variants.get(held) ?? variantsOf(path, held, this.#headers)
    this.#variants.set(held, variants)
    return chooseOf(variants, held.tag, asked)
  }

  #part(tag: string, file: string, path: string, stats: Stats, asked: Asked): FileAnswer {
    const headers = { ...this.#headers(path, tag), 'accept-ranges': 'bytes' }
    const whole = { file, stats, start: 0, end: stats.size - 1 }
    return choose(variantOf(path, headers, whole), tag, asked)
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

function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (NOTHING_THERE.has((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
