import { createHash } from 'node:crypto'
import type { Context } from 'hono'

/** A JSON answer that may be kept but is asked for again each time: with a tag of its content, and 304 for who has it. */
export function answer(c: Context, body: object, contentType = 'application/json'): Response {
  return answerText(c, JSON.stringify(body), contentType)
}

/** The same for text that is ready. */
export function answerText(c: Context, text: string, contentType: string): Response {
  const etag = `"${createHash('sha256').update(text).digest('hex').slice(0, 32)}"`
  const headers = { etag, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' }
  const known = (c.req.header('if-none-match') ?? '')
    .split(',')
    .map(one => one.trim().replace(/^W\//, ''))
  if (known.includes(etag) || known.includes('*'))
    return new Response(null, { status: 304, headers })
  return new Response(text, { headers: { ...headers, 'content-type': contentType } })
}
