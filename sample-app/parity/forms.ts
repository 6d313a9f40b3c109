import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { HTTPException } from 'hono/http-exception'
import { matchedRoutes } from 'hono/route'
import { findTargetHandler } from 'hono/utils/handler'
import { declared } from '../valid/valid.ts'
import {
  type Chunks,
  findParts,
  parseHeaderValue,
  readPart,
  refusal,
  type Span,
} from './multipart.ts'
import { Spool } from './spool.ts'
import type { NodeEnv } from './wire.ts'

/** The most fields, and the most files, that one form may have. */
const PART_LIMIT = 1000
/** The most bytes of one value that is not a file, and of all together. */
const [VALUE_LIMIT, TEXT_LIMIT] = [1024 * 1024, 16 * 1024 * 1024]

/**
 * Reads forms as they arrive, multipart ones by way of the disk, for routes that check one with
 * `valid`. Broken data, and data beyond a limit, is a 400.
 */
export const spooledForms = createMiddleware<NodeEnv>(async (c, next) => {
  const checks = matchedRoutes(c).map(({ handler }) => declared.get(findTargetHandler(handler)))
  if (!checks.some(check => check?.target === 'form')) return next()
  const spool = new Spool()
  try {
    // Read when the form is checked and not before: a login may stand before that.
    let form: Promise<FormData> | undefined
    const get = () => {
      form ??= readForm(c, spool)
      return form
    }
    Object.defineProperty(c.req.bodyCache, 'formData', { get, enumerable: true })
    await next()
  } finally {
    // The answer may be streaming one of the files.
    const outgoing = c.env?.outgoing
    if (!outgoing || outgoing.closed) await spool.close()
    else outgoing.once('close', () => spool.close().catch(error => console.error(error)))
  }
})

async function readForm({ env, req }: Context<NodeEnv>, spool: Spool): Promise<FormData> {
  const form = new LimitedForm()
  // It stays open when reading stops early: the answer needs the connection.
  const stream = env?.incoming?.iterator({ destroyOnReturn: false }) ?? req.raw.body
  const chunks: Chunks = stream ?? new Blob([]).stream()
  const { value: type, parameters } = parseHeaderValue(req.header('Content-Type') ?? '')
  if (type === 'multipart/form-data') await form.addParts(chunks, spool, parameters.get('boundary'))
  if (type === 'application/x-www-form-urlencoded') await form.addPairs(chunks)
  return form
}

class LimitedForm extends FormData {
  readonly #counts = { fields: 0, files: 0, bytes: 0 }

  async addParts(chunks: Chunks, spool: Spool, boundary = ''): Promise<void> {
    if (boundary === '') throw refusal('Missing boundary in multipart.')
    const parts: Span[] = []
    const body = await spool.fill(findParts(chunks, boundary, 2 * PART_LIMIT + 1, parts))
    // A thousand small parts are found sooner in memory.
    const small = body.size <= VALUE_LIMIT && new Blob([await body.arrayBuffer()])
    for (const span of parts) {
      const part = await readPart(small || body, span)
      if (part) await this.#addPart(part.headers, part.data)
    }
  }

  async #addPart(headers: ReadonlyMap<string, string>, data: Blob): Promise<void> {
    const { parameters } = parseHeaderValue(headers.get('content-disposition') ?? '')
    const [name, filename] = [parameters.get('name'), parameters.get('filename')]
    if (name === undefined) {
      throw refusal('The Content-Disposition header field "name" must be provided.')
    }
    // A part with a `filename`, even an empty one, is a file.
    if (filename === undefined) {
      this.#count('fields')
      if (data.size > VALUE_LIMIT) throw tooLong('Part')
      this.#countText(data.size)
      this.append(name, String(Buffer.from(await data.arrayBuffer())))
    } else {
      this.#count('files')
      // A path from Windows is cut to its last name.
      const last = filename.replace(/^(?:.:|\\)\\(?:.*\\)?/s, '')
      this.append(name, new File([data], last, { type: headers.get('content-type') ?? '' }))
    }
  }

  async addPairs(chunks: Chunks): Promise<void> {
    const arrived: Uint8Array[] = []
    for await (const chunk of chunks) {
      this.#countText(chunk.length)
      arrived.push(chunk)
    }
    for (const [pair] of String(Buffer.concat(arrived)).matchAll(/[^&]+/g)) {
      this.#count('fields')
      if (pair.length - pair.indexOf('=') > VALUE_LIMIT + 1) throw tooLong('Field')
      for (const [name, value] of new URLSearchParams(`&${pair}`)) this.append(name, value)
    }
  }

  #count(kind: 'fields' | 'files'): void {
    this.#counts[kind] += 1
    if (this.#counts[kind] <= PART_LIMIT) return
    throw refusal(`Too many ${kind}. Maximum number of ${kind} is ${PART_LIMIT}.`)
  }

  #countText(bytes: number): void {
    this.#counts.bytes += bytes
    if (this.#counts.bytes <= TEXT_LIMIT) return
    throw new HTTPException(413, { message: 'Request body too large' })
  }
}

const tooLong = (what: string) => refusal(`${what} exceeded maximum size of 1024KB.`)
