import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { toJson } from './json-text.ts'

/** A JSON answer: compact, `application/json` without a charset, non-ASCII text unescaped, integers of any size exact. */
export function jsonResponse(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(toJson(value), { status, headers: { 'Content-Type': 'application/json', ...headers } })
}

/** An HTTP error as an answer: `{"detail": …}`. */
export function refused(status: number, detail: string, headers: Record<string, string> = {}): Response {
  return jsonResponse({ detail }, status, headers)
}

/** An HTTP error to throw from anywhere below a handler; it ends the request with `{"detail": …}`. */
export function refusal(
  status: ContentfulStatusCode,
  detail: string,
  headers: Record<string, string> = {},
): HTTPException {
  return new HTTPException(status, { message: detail, res: refused(status, detail, headers) })
}
