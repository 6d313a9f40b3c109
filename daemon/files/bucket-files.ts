import type { Context, HonoRequest } from 'hono'
import { configPath, isIndexFile, notFoundPath } from '../../core/paths/tree.ts'
import { readIndexFile } from '../../generator/records/index-file.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import type { BucketStream, BucketStreams } from './bucket-streams.ts'
import { choose, variantOf } from './file-answer.ts'
import { tagOf } from './file-cache.ts'
import {
  type FileHeaders,
  fileHeaders,
  notFound,
  type TreeOptions,
  toFolder,
} from './file-headers.ts'
import type { Part } from './file-part.ts'
import { decodePath, type TreeFiles } from './public-files.ts'

type Shared = NonNullable<Registry['tree']['shared']>

/**
 * Serves a public tree in a bucket that several daemons share: index files as the records have them
 * now, so that what was published through another daemon is shown at once, `config.json` as the
 * settings have it, and everything else from the bucket. `.crate` files are for `storedCrates`.
 */
export class BucketFiles implements TreeFiles {
  readonly #shared: Shared
  readonly #database: Registry['database']
  readonly #streams: BucketStreams
  readonly #headers: FileHeaders
  readonly #pageHeaders: Readonly<Record<string, string>>
  readonly #config: Buffer | undefined

  constructor(
    shared: Shared,
    { database }: Registry,
    streams: BucketStreams,
    options: TreeOptions,
  ) {
    this.#shared = shared
    this.#database = database
    this.#streams = streams
    this.#headers = fileHeaders(options)
    this.#pageHeaders = options.pageHeaders ?? {}
    this.#config = options.config
  }

  async serve(pathname: string, c: Context): Promise<Response | null> {
    const known = decodePath(pathname)
    if (known === null || known.endsWith('.crate')) return null
    if (known === configPath && this.#config) return this.#text(known, this.#config, c.req)
    if (isIndexFile(known)) {
      const file = await readIndexFile(this.#database, known)
      return file && this.#text(known, Buffer.from(file.text), c.req)
    }
    return this.#streams.answer(c, () => this.#find(pathname, known, c.req))
  }

  async missing(c: Context): Promise<Response | null> {
    return this.#streams.answer(c, async () => {
      const found = await this.#shared.read(notFoundPath)
      return found && notFound(c.req.method, found.bytes, this.#pageHeaders)
    })
  }

  async #find(
    pathname: string,
    known: string,
    request: HonoRequest,
  ): Promise<BucketStream | Response | null> {
    const isFolder = known === '' || pathname.endsWith('/')
    const folder = known === '' ? '' : `${known}/`
    const path = isFolder ? `${folder}index.html` : known
    const facts = await this.#shared.head(path)
    if (!facts) {
      if (isFolder || !(await this.#shared.head(`${folder}index.html`))) return null
      return new Response(null, toFolder(pathname, request.url))
    }
    const tag = (facts.cksum ?? facts.etag.replace(/\W/g, '')).slice(0, 32)
    const whole: Part = { start: 0, end: facts.size - 1 }
    const variant = variantOf(path, this.#headers(path, tag), whole)
    const { body, ...answer } = choose(variant, tag, request)
    if (body === null) return new Response(null, answer)
    const found = await this.#shared.open(path)
    // Written anew meanwhile: the length and the tag would be those of the file before.
    if (found && found.etag !== facts.etag) {
      found.bytes.destroy()
      return this.#find(pathname, known, request)
    }
    return found && { bytes: found.bytes, size: found.size, answer }
  }

  #text(path: string, bytes: Buffer, request: HonoRequest): Response {
    const tag = tagOf(bytes)
    const variant = variantOf<Part>(path, this.#headers(path, tag), bytes)
    const { body, ...answer } = choose(variant, tag, request)
    return new Response(Buffer.isBuffer(body) ? new Uint8Array(body) : null, answer)
  }
}
