import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import type * as v from 'valibot'

/** A JSON answer with an ETag of its content, to be revalidated each time; or 304. */
export function answer<Schema extends v.GenericSchema>(
  c: Context,
  body: v.InferOutput<Schema>,
): Response {
  return answerText(c, JSON.stringify(body), 'application/json')
}

/** The same for text. */
export function answerText(c: Context, text: string, contentType: string): Response {
  const tag = createHash('sha256').update(text).digest('hex').slice(0, 32)
  const headers = {
    etag: `"${tag}"`,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
  }
  if (isKnown(c.req.header('if-none-match'), tag))
    return new Response(null, { status: 304, headers })
  return new Response(text, { headers: { ...headers, 'content-type': contentType } })
}

/** Whether `If-None-Match` names a tag, in either encoding (RFC 9110 §13.1.2: weak comparison). */
export function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some(one => {
    const given = one.trim().replace(/^W\//, '')
    return given === '*' || given === `"${tag}"` || given === `"${tag}-gz"`
  })
}
