import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { HTTPException } from 'hono/http-exception'
import { binary, type Chunks, decode, readMultipart, refusal } from './multipart.ts'
import { Spool } from './spool.ts'
import type { NodeEnv } from './wire.ts'

/** The most fields, and the most files, of one form. */
const PART_LIMIT = 1000
/** The most bytes of one value that is not a file, and of all together. */
const [VALUE_LIMIT, TEXT_LIMIT] = [1024 * 1024, 16 * 1024 * 1024]

/** A name, and a text or what takes a file from all that was spooled. */
type Entry = [name: string, value: string | ((files: Blob) => File)]

/** Reads forms as they arrive, their files to disk. Broken or too much data is a 400. */
export const spooledForms = createMiddleware<NodeEnv>(async (c, next) => {
  const spool = new Spool()
  let form: Promise<FormData> | undefined
  // Read when the form is checked and not before: a login may stand before that.
  const get = () => (form ??= readForm(c, spool))
  Object.defineProperty(c.req.bodyCache, 'formData', { get })
  try {
    await next()
  } finally {
    // The answer may be streaming one of the files.
    const outgoing = c.env?.outgoing
    if (!outgoing || outgoing.closed) await spool.close()
    else outgoing.once('close', () => spool.close().catch(error => console.error(error)))
  }
})

async function readForm({ env, req }: Context<NodeEnv>, spool: Spool): Promise<FormData> {
  // It stays open when reading stops early: the answer needs the connection.
  const chunks = env?.incoming?.iterator({ destroyOnReturn: false }) ?? req.raw.body ?? []
  const type = req.header('Content-Type') ?? ''
  const isMultipart = /^\s*multipart/i.test(type)
  const arriving = isMultipart ? readParts(chunks, type, spool) : readPairs(chunks)
  const entries: Entry[] = []
  const sums = { fields: 0, files: 0, text: 0 }
  for await (const [name, value] of arriving) {
    const isText = typeof value === 'string'
    const kind = isText ? 'fields' : 'files'
    sums[kind] += 1
    sums.text += isText ? value.length : 0
    if (sums.text > TEXT_LIMIT) throw tooLarge()
    if (sums[kind] > PART_LIMIT)
      throw refusal(`Too many ${kind}. Maximum number of ${kind} is ${PART_LIMIT}.`)
    entries.push([name, value])
  }
  const [form, files] = [new FormData(), await spool.read()]
  for (const [name, value] of entries)
    form.append(name, typeof value === 'string' ? value : value(files))
  return form
}

async function* readParts(chunks: Chunks, type: string, spool: Spool): AsyncGenerator<Entry> {
  let [part, text] = [{ name: '', filename: '' as string | undefined, type: '', start: 0 }, '']
  for await (const event of readMultipart(chunks, type)) {
    const [{ name, filename, type, start }, end] = [part, spool.size]
    const file = (files: Blob) => new File([files.slice(start, end)], filename ?? '', { type })
    if (event === null) yield [name, filename === undefined ? decode(text) : file]
    else if (typeof event !== 'string') [part, text] = [{ ...event, start: end }, '']
    else if (filename === undefined) text += event
    else await spool.write(event)
    if (text.length > VALUE_LIMIT) throw tooLong('Part')
  }
}

async function* readPairs(chunks: Chunks): AsyncGenerator<Entry> {
  let body = ''
  for await (const chunk of chunks) {
    body += binary(chunk)
    if (body.length > TEXT_LIMIT) throw tooLarge()
  }
  for (const [pair] of decode(body).matchAll(/[^&]+/g)) {
    if (pair.length - pair.indexOf('=') > VALUE_LIMIT + 1) throw tooLong('Field')
    // A question mark at the beginning would be dropped.
    yield* new URLSearchParams(`&${pair}`)
  }
}

const tooLong = (what: string) => refusal(`${what} exceeded maximum size of 1024KB.`)
const tooLarge = () => new HTTPException(413, { message: 'Request body too large' })
