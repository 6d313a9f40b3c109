import { randomUUID } from 'node:crypto'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Logger } from 'pino'
import { type Code, type Issue, issue, type Refusal } from '../../generator/index.ts'

/** Objections that keep their status even where Cargo's 200 convention holds (specification section 7; DESIGN §8). */
const REAL: Partial<Record<Code, ContentfulStatusCode>> = {
  token_absent: 403,
  token_rejected: 403,
  token_withdrawn: 403,
  scope_missing: 403,
  crate_not_covered: 403,
  crate_unknown: 404,
  release_unknown: 404,
  readme_unknown: 404,
  route_unknown: 404,
  body_lost: 400,
  body_slow: 408,
  crate_too_big: 413,
  metadata_too_big: 413,
  rate_limited: 429,
  crates_too_many: 429,
  versions_too_many: 429,
  logins_busy: 503,
}

/** The honest status of an objection that Cargo's convention answers with 200; 400 where nothing else is said. */
const HONEST: Partial<Record<Code, ContentfulStatusCode>> = {
  not_owner: 403,
  version_taken: 409,
  name_taken: 409,
  session_absent: 403,
  admin_only: 403,
  form_rejected: 403,
  login_failed: 403,
  link_invalid: 403,
  password_wrong: 403,
}

/** Under what a request keeps the codes of the objections it met. */
const NOTED = 'objections'

/** Notes what a request was refused for, also where the answer is a page, so that `/metrics` can count it. */
export function noteObjections(c: Context, codes: readonly Code[]): void {
  c.set(NOTED, [...notedObjections(c), ...codes])
}

/** What a request was refused for; empty for one that was not. */
export function notedObjections(c: Context): readonly Code[] {
  return (c.get(NOTED) as readonly Code[] | undefined) ?? []
}

/** What the client is told: every objection as one `errors[].detail`, the form that Cargo shows. */
export function failureBody(issues: readonly Issue[]): { errors: { detail: string }[] } {
  return { errors: issues.map(one => ({ detail: one.message })) }
}

/** The answer to a refused request: 200 by Cargo's convention (`cargo`), or the honest status (`http`). */
export function refused(c: Context, refusal: Refusal, mode: 'cargo' | 'http'): Response {
  const status = realStatus(refusal) ?? (mode === 'cargo' ? 200 : honestStatus(refusal))
  noteObjections(c, codesOf(refusal))
  const { retryAfter } = refusal
  const later = retryAfter === undefined ? undefined : { 'retry-after': String(retryAfter) }
  return c.json(failureBody(refusal.issues), status, { 'cache-control': 'no-store', ...later })
}

/** The code of each objection of a refusal. */
export function codesOf(refusal: Refusal): Code[] {
  return refusal.issues.map(one => one.code)
}

/** The status of a refusal where no convention stands in the way, as on pages. */
export function honestStatus(refusal: Refusal): ContentfulStatusCode {
  const honest = refusal.issues.map(one => HONEST[one.code]).find(status => status !== undefined)
  return realStatus(refusal) ?? honest ?? 400
}

function realStatus(refusal: Refusal): ContentfulStatusCode | undefined {
  return refusal.issues.map(one => REAL[one.code]).find(status => status !== undefined)
}

/** The answer to what nobody foresaw: 500 with an id, under which the log has the cause, once. */
export function unexpected(c: Context, error: unknown, log: Logger): Response {
  const id = randomUUID()
  noteObjections(c, ['unexpected'])
  log.error({ err: error, id, method: c.req.method, path: c.req.path }, 'unexpected failure')
  return c.json(failureBody([issue('unexpected', { id })]), 500, { 'cache-control': 'no-store' })
}
