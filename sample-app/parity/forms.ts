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

/** The name and the text of a field, or the place of a file in the spool. */
type Entry = [name: string, value: string | Upload]
type Upload = { filename: string; type: string; start: number; end: number }

/**
 * Reads forms as they arrive, their files to disk, for routes that check one with `valid`. Broken
 * data, and data beyond a limit, is a 400.
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

async function readForm(c: Context<NodeEnv>, spool: Spool): Promise<FormData> {
  const entries: Entry[] = []
  // A part that is cut off is as good as not sent.
  await collect(readEntries(c, spool), entries).catch(error => {
    if (!(error instanceof CutOff)) throw error
  })
  const [form, files] = [new FormData(), await spool.read()]
  for (const [name, value] of entries) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, new File([files.slice(value.start, value.end)], value.filename, value))
  }
  return form
}

async function collect(arriving: AsyncIterable<Entry>, entries: Entry[]): Promise<void> {
  const counts = { fields: 0, files: 0, text: 0 }
  for await (const [name, value] of arriving) {
    const kind = typeof value === 'string' ? 'fields' : 'files'
    counts[kind] += 1
    if (counts[kind] > PART_LIMIT) {
      throw refusal(`Too many ${kind}. Maximum number of ${kind} is ${PART_LIMIT}.`)
    }
    counts.text += typeof value === 'string' ? value.length : 0
    if (counts.text > TEXT_LIMIT) throw tooLarge()
    entries.push([name, value])
  }
}

function readEntries({ env, req }: Context<NodeEnv>, spool: Spool): AsyncIterable<Entry> {
  // It stays open when reading stops early: the answer needs the connection.
  const stream = env?.incoming?.iterator({ destroyOnReturn: false }) ?? req.raw.body
  const chunks: Chunks = stream ?? new Blob([]).stream()
  const { value: type, parameters } = parseHeaderValue(req.header('Content-Type') ?? '')
  const isMultipart = type === 'multipart/form-data'
  return isMultipart ? readParts(chunks, parameters.get('boundary'), spool) : readPairs(chunks)
}

async function* readParts(chunks: Chunks, boundary = '', spool: Spool): AsyncGenerator<Entry> {
  if (boundary === '') throw refusal('Missing boundary in multipart.')
  for await (const { headers, data } of readMultipart(chunks, boundary)) {
    const { parameters } = parseHeaderValue(headers.get('content-disposition') ?? '')
    const [name, filename] = [parameters.get('name'), parameters.get('filename')]
    if (name === undefined) {
      throw refusal('The Content-Disposition header field "name" must be provided.')
    }
    // A part with a `filename`, even an empty one, is a file.
    if (filename === undefined) yield [name, await readText(data, VALUE_LIMIT, tooLong('Part'))]
    else {
      const start = spool.size
      for await (const bytes of data) await spool.write(bytes)
      // A path from Windows is cut to its last name.
      const last = filename.replace(/^(?:.:|\\)\\(?:.*\\)?/s, '')
      const type = headers.get('content-type') ?? ''
      yield [name, { filename: last, type, start, end: spool.size }]
    }
  }
}

async function* readPairs(chunks: Chunks): AsyncGenerator<Entry> {
  for (const [pair] of (await readText(chunks, TEXT_LIMIT, tooLarge())).matchAll(/[^&]+/g)) {
    if (pair.length - pair.indexOf('=') > VALUE_LIMIT + 1) throw tooLong('Field')
    // A question mark at the beginning would be dropped.
    yield* new URLSearchParams(`&${pair}`)
  }
}

async function readText(chunks: Chunks, limit: number, error: Error): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > limit) throw error
    parts.push(chunk)
  }
  return String(Buffer.concat(parts))
}

const tooLong = (what: string) => refusal(`${what} exceeded maximum size of 1024KB.`)
const tooLarge = () => new HTTPException(413, { message: 'Request body too large' })
