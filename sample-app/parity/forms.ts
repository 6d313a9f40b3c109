import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { HTTPException } from 'hono/http-exception'
import { matchedRoutes } from 'hono/route'
import { findTargetHandler } from 'hono/utils/handler'
import { declared } from '../valid/valid.ts'
import { type Chunks, CutOff, parseHeaderValue, readMultipart, refusal } from './multipart.ts'
import { Spool } from './spool.ts'
import type { NodeEnv } from './wire.ts'

/** The most fields, and the most files, that one form may have. */
const PART_LIMIT = 1000
/** The most bytes of one value that is not a file, and of all together. */
const [VALUE_LIMIT, TEXT_LIMIT] = [1024 * 1024, 16 * 1024 * 1024]

/** The place of a file in the spool. */
type Upload = { filename: string; type: string; start: number; end: number }

/**
 * Reads forms as they arrive, their files to disk, for routes that check one with `valid`. Broken
 * data, and data beyond a limit, is a 400.
 */
export const spooledForms = createMiddleware<NodeEnv>(async (c, next) => {
  const checks = matchedRoutes(c).map(({ handler }) => declared.get(findTargetHandler(handler)))
  if (!checks.some(check => check?.target === 'form')) return next()
  const reader = new FormReader()
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
  readonly #entries: [name: string, value: string | Upload][] = []
  readonly #counts = { fields: 0, files: 0, bytes: 0 }
  readonly #spool = new Spool()

  close = () => this.#spool.close()

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
    if (type === 'application/x-www-form-urlencoded') this.#readPairs(await this.#readText(chunks))
    const [form, files] = [new FormData(), await this.#spool.read()]
    for (const [name, value] of this.#entries) {
      if (typeof value === 'string') form.append(name, value)
      else form.append(name, new File([files.slice(value.start, value.end)], value.filename, value))
    }
    return form
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
        this.#entries.push([name, await this.#readText(data, VALUE_LIMIT)])
      } else {
        const start = this.#spool.size
        for await (const bytes of data) await this.#spool.write(bytes)
        // A path from Windows is cut to its last name.
        const last = filename.replace(/^(?:.:|\\)\\(?:.*\\)?/s, '')
        const type = headers.get('content-type') ?? ''
        this.#entries.push([name, { filename: last, type, start, end: this.#spool.size }])
      }
    }
  }

  #readPairs(text: string): void {
    for (const [pair] of text.matchAll(/[^&]+/g)) {
      this.#count('fields')
      if (pair.length - pair.indexOf('=') > VALUE_LIMIT + 1) throw tooLong('Field')
      // A question mark at the beginning would be dropped.
      this.#entries.push(...new URLSearchParams(`&${pair}`))
    }
  }

  #count(kind: 'fields' | 'files'): void {
    this.#counts[kind] += 1
    if (this.#counts[kind] <= PART_LIMIT) return
    throw refusal(`Too many ${kind}. Maximum number of ${kind} is ${PART_LIMIT}.`)
  }

  async #readText(chunks: Chunks, limit = TEXT_LIMIT): Promise<string> {
    const parts: Uint8Array[] = []
    let size = 0
    for await (const chunk of chunks) {
      size += chunk.length
      this.#counts.bytes += chunk.length
      if (this.#counts.bytes > TEXT_LIMIT) throw tooLarge()
      if (size > limit) throw tooLong('Part')
      parts.push(chunk)
    }
    return String(Buffer.concat(parts))
  }
}

const tooLong = (what: string) => refusal(`${what} exceeded maximum size of 1024KB.`)
const tooLarge = () => new HTTPException(413, { message: 'Request body too large' })
