import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { readMultipart, readPairs, refusal, TEXT_LIMIT, tooLarge } from './parts.ts'
import { Spool } from './spool.ts'
import type { NodeEnv } from './wire.ts'

/** The most fields, and the most files, of one form. */
const PART_LIMIT = 1000

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
  const isMultipart = /^\s*multipart\/form-data/i.test(type)
  const parts = []
  const sums = { fields: 0, files: 0, text: 0 }
  for await (const part of isMultipart ? readMultipart(chunks, type, spool) : readPairs(chunks)) {
    const kind = part.filename === undefined ? 'fields' : 'files'
    sums[kind] += 1
    sums.text += part.text.length
    if (sums.text > TEXT_LIMIT) throw tooLarge()
    if (sums[kind] > PART_LIMIT)
      throw refusal(`Too many ${kind}. Maximum number of ${kind} is ${PART_LIMIT}.`)
    parts.push(part)
  }
  const [form, files] = [new FormData(), await spool.read()]
  for (const { name, text, filename, type, start, end } of parts) {
    const file = new File([files.slice(start, end)], filename ?? '', { type })
    form.append(name, filename === undefined ? text : file)
  }
  return form
}
