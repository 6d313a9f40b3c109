import { createHash, randomUUID } from 'node:crypto'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Logger } from 'pino'
import type * as v from 'valibot'
import {
  type Code,
  type Issue,
  issue,
  type Kind,
  kindOf,
  type Refusal,
} from '../../generator/index.ts'

interface Status {
  readonly code: ContentfulStatusCode
  /** Whether it stands also where Cargo expects 200 (specification section 7; DESIGN §8). */
  readonly always: boolean
  /** After how many seconds a client may try again, unless the refusal says. */
  readonly retryAfter?: number
}

/** The status of each kind of objection. */
const STATUS = {
  unauthorized: { code: 403, always: true },
  not_found: { code: 404, always: true },
  incomplete: { code: 400, always: true },
  timeout: { code: 408, always: true },
  too_large: { code: 413, always: true },
  too_many: { code: 429, always: true },
  failed: { code: 500, always: true },
  busy: { code: 503, always: true, retryAfter: 10 },
  full: { code: 507, always: true, retryAfter: 60 },
  forbidden: { code: 403, always: false },
  conflict: { code: 409, always: false },
  misuse: { code: 400, always: false },
  invalid: { code: 400, always: false },
} satisfies Record<Kind, Status>

/** Under what a request keeps the codes of the objections it met. */
const NOTED = 'objections'

/** Records why a request was refused, for `/metrics`. */
export function addObjections(c: Context, codes: readonly Code[]): void {
  c.set(NOTED, [...objectionsOf(c), ...codes])
}

/** What a request was refused for; empty for one that was not. */
export function objectionsOf(c: Context): readonly Code[] {
  return (c.get(NOTED) as readonly Code[] | undefined) ?? []
}

/** What the client is told: every objection as one `errors[].detail`, the form that Cargo shows. */
export function failureBody(issues: readonly Issue[]): { errors: { detail: string }[] } {
  return { errors: issues.map(one => ({ detail: one.message })) }
}

/** The answer to a refusal: 200 by Cargo's convention (`cargo`) or the honest status (`http`). */
export function refused(c: Context, refusal: Refusal, mode: 'cargo' | 'http'): Response {
  const honest = noteRefusal(c, refusal)
  const status = mode === 'http' || statusesOf(refusal).some(one => one.always) ? honest : 200
  return c.json(failureBody(refusal.issues), status, { 'cache-control': 'no-store' })
}

/**
 * Notes a refusal for `/metrics`, sets `Retry-After` where it is for a while only, and gives its
 * status where no convention stands in the way, as on pages.
 */
export function noteRefusal(c: Context, refusal: Refusal): ContentfulStatusCode {
  const codes = refusal.issues.map(one => one.code)
  addObjections(c, codes)
  const statuses = statusesOf(refusal)
  const seconds = refusal.retryAfter ?? statuses.find(one => one.retryAfter)?.retryAfter
  if (seconds !== undefined) c.header('retry-after', String(seconds))
  const telling = statuses.find(one => one.always) ?? statuses.find(one => one.code !== 400)
  return telling?.code ?? 400
}

function statusesOf(refusal: Refusal): Status[] {
  return refusal.issues.map(one => STATUS[kindOf(one.code)])
}

/** The answer to what nobody foresaw: 500 with an id, under which the log has the cause, once. */
export function unexpected(c: Context, error: unknown, log: Logger): Response {
  const id = randomUUID()
  addObjections(c, ['unexpected'])
  log.error({ err: error, id, method: c.req.method, path: c.req.path }, 'unexpected failure')
  return c.json(failureBody([issue('unexpected', { id })]), 500, { 'cache-control': 'no-store' })
}

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
