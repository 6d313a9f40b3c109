import { randomUUID } from 'node:crypto'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Logger } from 'pino'
import type * as v from 'valibot'
import { type Issue, issue, type Kind, kindOf, type Refusal } from '../../core/error/error.ts'
import { sha256 } from '../../core/sha256.ts'
import { recordIssues } from './log.ts'

interface Status {
  readonly code: ContentfulStatusCode
  /** Whether it is sent even where Cargo expects 200 (specification section 7; DESIGN §8). */
  readonly always: boolean
  readonly retryAfter?: number
}

const STATUS = {
  denied: { code: 401, always: true },
  unauthorized: { code: 403, always: true },
  not_found: { code: 404, always: true },
  incomplete: { code: 400, always: true },
  timeout: { code: 408, always: true },
  unsupported: { code: 415, always: true },
  unprocessable: { code: 422, always: true },
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

/** Returns the body of a refusal: one `errors[].detail` per issue, the form that Cargo shows. */
export function failureBody(issues: readonly Issue[]): { errors: { detail: string }[] } {
  return { errors: issues.map(problem => ({ detail: problem.message })) }
}

/** Answers a refusal with 200 by Cargo's convention (`cargo`) or the real status (`http`). */
export function refused(c: Context, refusal: Refusal, mode: 'cargo' | 'http'): Response {
  const honest = recordRefusal(c, refusal)
  const status = mode === 'http' || statusesOf(refusal).some(({ always }) => always) ? honest : 200
  return c.json(failureBody(refusal.issues), status, { 'cache-control': 'no-store' })
}

/**
 * Records a refusal for `/metrics` and the log, sets `Retry-After` if it is temporary, and returns
 * its real status, for responses that need not follow Cargo's convention, such as pages.
 */
export function recordRefusal(c: Context, refusal: Refusal): ContentfulStatusCode {
  recordIssues(c, refusal.issues)
  const statuses = statusesOf(refusal)
  const seconds = refusal.retryAfter ?? statuses.find(status => status.retryAfter)?.retryAfter
  if (seconds !== undefined) c.header('retry-after', String(seconds))
  const telling = statuses.find(({ always }) => always) ?? statuses.find(({ code }) => code !== 400)
  return telling?.code ?? 400
}

function statusesOf(refusal: Refusal): Status[] {
  return refusal.issues.map(problem => STATUS[kindOf(problem.code)])
}

/** Answers an unexpected error with 500 and an id; logs the error once under that id. */
export function unexpected(c: Context, error: unknown, log: Logger): Response {
  const id = randomUUID()
  const issues = [issue('unexpected', { id })]
  recordIssues(c, issues)
  log.error({ err: error, id, method: c.req.method, path: c.req.path }, 'unexpected error')
  return c.json(failureBody(issues), 500, { 'cache-control': 'no-store' })
}

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T

/** Answers with JSON and an ETag of its content, for clients to revalidate each time; or 304. */
export function answer<Schema extends v.GenericSchema>(
  c: Context,
  body: v.InferOutput<Schema> | Frozen<v.InferOutput<Schema>>,
): Response {
  return answerText(c, JSON.stringify(body), 'application/json')
}

/** Does the same as `answer` for text. */
export function answerText(c: Context, text: string, contentType: string): Response {
  const tag = sha256(text).slice(0, 32)
  const headers = {
    etag: `"${tag}"`,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
  }
  if (isKnown(c.req.header('if-none-match'), tag))
    return new Response(null, { status: 304, headers })
  return new Response(text, { headers: { ...headers, 'content-type': contentType } })
}

/** Returns whether `If-None-Match` has a tag, in either encoding (weakly, RFC 9110 §13.1.2). */
export function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some(item => {
    const candidate = item.trim().replace(/^W\//, '')
    return candidate === '*' || candidate === `"${tag}"` || candidate === `"${tag}-gz"`
  })
}
