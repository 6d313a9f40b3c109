import { createHash } from 'node:crypto'
import type { Context } from 'hono'

/**
 * A JSON answer that a cache may keep but revalidates each time: with an ETag of its content, or
 * 304.
 */
export function answer(c: Context, body: object, contentType = 'application/json'): Response {
  return answerText(c, JSON.stringify(body), contentType)
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

/**
 * Whether `If-None-Match` names the content of a tag (RFC 9110 §13.1.2: weak comparison). Either
 * encoding will do, because a cache may hold one and be asked for the other.
 */
export function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some(one => {
    const given = one.trim().replace(/^W\//, '')
    return given === '*' || given === `"${tag}"` || given === `"${tag}-gz"`
  })
}
