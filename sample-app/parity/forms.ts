import { randomUUID } from 'node:crypto'
import { existsSync, openAsBlob } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { HTTPException } from 'hono/http-exception'
import { matchedRoutes } from 'hono/route'
import { findTargetHandler } from 'hono/utils/handler'
import { isList } from '../valid/parts.ts'
import { declared } from '../valid/valid.ts'
import { type Chunks, CutOff, parseHeaderValue, readMultipart, refusal } from './multipart.ts'
import type { NodeEnv } from './wire.ts'

/** The most fields, and the most files, that one form may have. */
const PART_LIMIT = 1000
/** The most bytes of one value that is not a file, and of all that are kept. */
const [VALUE_LIMIT, KEPT_LIMIT] = [1024 * 1024, 16 * 1024 * 1024]

/**
 * Reads forms as they arrive, files to disk, for routes that check one with `valid`. Parts unknown
 * to the schema are counted and dropped. Broken data, and data beyond a limit, is a 400.
 */
export const spooledForms = createMiddleware<NodeEnv>(async (c, next) => {
  const checks = matchedRoutes(c).map(({ handler }) => declared.get(findTargetHandler(handler)))
  const form = checks.find(check => check?.target === 'form')
  if (!form) return next()
  const entries = 'entries' in form.schema ? Object.entries(Object(form.schema.entries)) : []
  const reader = new FormReader(new Map(entries.map(([key, item]) => [key, isList(Object(item))])))
  try {
    // Read when the form is checked and not before: a login may stand before that.
    let form: Promise<FormData> | undefined
    const get = () => {
      form ??= reader.read(c)
      return form
    }
    Object.defineProperty(c.req.bodyCache, 'formData', { get, enumerable: true })
    await next()
  } finally {
    // The answer may be streaming one of the files.
    const outgoing = c.env?.outgoing
    if (!outgoing || outgoing.closed) await reader.close()
    else outgoing.once('close', () => reader.close().catch(error => console.error(error)))
  }
})

class FormReader {
  readonly #form = new FormData()
  readonly #files = new Map<unknown, SpooledFile>()
  readonly #counts = { fields: 0, files: 0, bytes: 0 }
  /** The names that are kept, and whether all their values are. */
  readonly #names: ReadonlyMap<string, boolean>

  constructor(names: ReadonlyMap<string, boolean>) {
    this.#names = names
  }

  async read({ env, req }: Context<NodeEnv>): Promise<FormData> {
    // It stays open when reading stops early: the answer needs the connection.
    const stream = env?.incoming?.iterator({ destroyOnReturn: false }) ?? req.raw.body
    const chunks: Chunks = stream ?? new Blob([]).stream()
    const { value: type, parameters } = parseHeaderValue(req.header('Content-Type') ?? '')
    if (type === 'multipart/form-data') {
      // A part that is cut off is as good as not sent.
      await this.#readParts(chunks, parameters.get('boundary')).catch(error => {
        if (!(error instanceof CutOff)) throw error
      })
    }
    if (type === 'application/x-www-form-urlencoded') this.#readPairs(await readWhole(chunks))
    return this.#form
  }

  async close(): Promise<void> {
    await Promise.all([...this.#files.values()].map(file => file.close()))
  }

  async #readParts(chunks: Chunks, boundary = ''): Promise<void> {
    if (boundary === '') throw refusal('Missing boundary in multipart.')
    for await (const { headers, data } of readMultipart(chunks, boundary)) {
      const { parameters } = parseHeaderValue(headers.get('content-disposition') ?? '')
      const [name, filename] = [parameters.get('name'), parameters.get('filename')]
      if (name === undefined) {
        throw refusal('The Content-Disposition header field "name" must be provided.')
      }
      // A part with a `filename`, even an empty one, is a file.
      this.#count(filename === undefined ? 'fields' : 'files')
      if (filename === undefined) {
        this.#keep(name, String(await readWhole(data, VALUE_LIMIT, tooLong('Part'))))
      } else if (this.#names.has(name)) {
        const spooled = new SpooledFile()
        this.#files.set(spooled, spooled)
        const type = headers.get('content-type') ?? ''
        // A path from Windows is cut to its last name.
        const last = filename.replace(/^(?:.:|\\)\\(?:.*\\)?/s, '')
        const file = await spooled.fill(last, type, data)
        if (!this.#names.get(name)) await this.#files.get(this.#form.get(name))?.close()
        this.#files.set(file, spooled)
        this.#keep(name, file)
      }
    }
  }

  #readPairs(bytes: Buffer): void {
    for (const [pair] of bytes.toString().matchAll(/[^&]+/g)) {
      this.#count('fields')
      if (pair.length - pair.indexOf('=') > VALUE_LIMIT + 1) throw tooLong('Field')
      for (const [name, value] of new URLSearchParams(pair)) this.#keep(name, value)
    }
  }

  #keep(name: string, value: string | File): void {
    const isList = this.#names.get(name)
    if (isList === undefined) return
    if (typeof value === 'string') this.#counts.bytes += value.length
    if (this.#counts.bytes > KEPT_LIMIT) throw tooLarge()
    if (isList) this.#form.append(name, value)
    else this.#form.set(name, value)
  }

  #count(kind: 'fields' | 'files'): void {
    this.#counts[kind] += 1
    if (this.#counts[kind] <= PART_LIMIT) return
    throw refusal(`Too many ${kind}. Maximum number of ${kind} is ${PART_LIMIT}.`)
  }
}

/** Bytes on disk, in a file whose name is gone before its first byte where the system allows it. */
class SpooledFile {
  readonly #path = join(tmpdir(), `upload-${randomUUID()}`)
  #disk: FileHandle | undefined

  async fill(name: string, type: string, data: Chunks): Promise<File> {
    this.#disk = await open(this.#path, 'wx+', 0o600)
    const nameless = `/proc/self/fd/${this.#disk.fd}`
    const isNameless = existsSync(nameless)
    if (isNameless) await unlink(this.#path)
    for await (const bytes of data) await this.#disk.writeFile(bytes)
    return new File([await openAsBlob(isNameless ? nameless : this.#path)], name, { type })
  }

  async close(): Promise<void> {
    await this.#disk?.close()
    await unlink(this.#path).catch(error => {
      if (error.code !== 'ENOENT') throw error
    })
  }
}

async function readWhole(chunks: Chunks, limit = KEPT_LIMIT, error = tooLarge()): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > limit) throw error
    parts.push(chunk)
  }
  return Buffer.concat(parts)
}

const tooLong = (what: string) => refusal(`${what} exceeded maximum size of 1024KB.`)
const tooLarge = () => new HTTPException(413, { message: 'Request body too large' })
