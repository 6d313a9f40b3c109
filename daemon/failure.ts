import { randomUUID } from 'node:crypto'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Logger } from 'pino'
import { type Code, type Issue, issue, type Refusal } from '../generator/index.ts'

/** Objections that keep their status even where Cargo's 200 convention holds (specification section 7; DESIGN §8). */
const REAL: Partial<Record<Code, ContentfulStatusCode>> = {
  token_absent: 403,
  token_rejected: 403,
  scope_missing: 403,
  crate_not_covered: 403,
  crate_unknown: 404,
  release_unknown: 404,
  readme_unknown: 404,
  route_unknown: 404,
  body_lost: 400,
  crate_too_big: 413,
  metadata_too_big: 413,
}

/** The honest status of an objection that Cargo's convention answers with 200; 400 where nothing else is said. */
const HONEST: Partial<Record<Code, ContentfulStatusCode>> = { not_owner: 403, version_taken: 409, name_taken: 409 }

/** What the client is told: every objection as one `errors[].detail`, the form that Cargo shows. */
export function failureBody(issues: readonly Issue[]): { errors: { detail: string }[] } {
  return { errors: issues.map(one => ({ detail: one.message })) }
}

/** The answer to a refused request: 200 by Cargo's convention (`cargo`), or the honest status (`http`). */
export function refused(c: Context, refusal: Refusal, mode: 'cargo' | 'http'): Response {
  const real = refusal.issues.map(one => REAL[one.code]).find(status => status !== undefined)
  const honest = refusal.issues.map(one => HONEST[one.code]).find(status => status !== undefined)
  const status = real ?? (mode === 'cargo' ? 200 : (honest ?? 400))
  return c.json(failureBody(refusal.issues), status, { 'cache-control': 'no-store' })
}

/** The answer to what nobody foresaw: 500 with an id, under which the log has the cause, once. */
export function unexpected(c: Context, error: unknown, log: Logger): Response {
  const id = randomUUID()
  log.error({ err: error, id, method: c.req.method, path: c.req.path }, 'unexpected failure')
  return c.json(failureBody([issue('unexpected', { id })]), 500, { 'cache-control': 'no-store' })
}
