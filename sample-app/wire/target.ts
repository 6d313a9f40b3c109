import type { IncomingMessage, ServerResponse } from 'node:http'
import { decodePercent } from './percent.ts'

/** What the Node server passes along with a request; all of it is absent under `app.request()`. */
export interface Bindings {
  readonly incoming?: IncomingMessage
  readonly outgoing?: ServerResponse
  /** Where an application is mounted, without a slash at its end: `/examples/cookies`. */
  readonly base?: string
}

/** The environment of every Hono application here. */
export interface SampleEnv {
  Bindings: Bindings
}

/** Path and query as they were on the wire, nothing decoded or collapsed; `query` starts with `?` or is empty. */
export interface Target {
  readonly path: string
  readonly query: string
}

/**
 * Reads the request target. `request.url` has gone through `new URL`, which collapses dot segments and rewrites
 * characters; the Node request has not.
 */
export function requestTarget(request: Request, env: Bindings | undefined): Target {
  const target = (env?.incoming?.url ?? request.url).replace(/^https?:\/\/[^/?#]*/i, '')
  const mark = target.indexOf('?')
  const path = mark === -1 ? target : target.slice(0, mark)
  return { path: path === '' ? '/' : path, query: mark === -1 ? '' : target.slice(mark) }
}

/**
 * Hono's `getPath`: the path its routes are matched against, below the mount point. Each segment is decoded and encoded
 * again, so `/%69tems` meets the route `/items`, while `%2F` stays inside its segment (Hono's rule) and Hono's own
 * decoding of parameters afterwards is the only one a value sees.
 */
export function routedPath(request: Request, options?: { env?: Bindings | undefined }): string {
  const path = canonicalPath(requestTarget(request, options?.env).path)
  const base = options?.env?.base ?? ''
  return path.startsWith(base) ? path.slice(base.length) || '/' : path
}

function canonicalPath(path: string): string {
  return path
    .split('/')
    .map(segment => encodeURIComponent(decodePercent(segment)))
    .join('/')
}
