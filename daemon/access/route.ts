import type { Context } from 'hono'
import type { Scope } from '../accounts/tokens.ts'
import type { Actor } from './auth.ts'
import type { BrowserRequest, SessionRequest } from './browser-request.ts'
import type { Counted } from './rate-limit.ts'

/** Handles a request of somebody unknown. */
export type OpenHandler = (c: Context) => Response | Promise<Response>

/** Handles a request of somebody who showed a valid token. */
export type ActorHandler = (c: Context, actor: Actor) => Response | Promise<Response>

/** Handles a request of a browser, logged in or not. */
export type BrowserHandler = (c: Context, request: BrowserRequest) => Response | Promise<Response>

/** Handles a request of a browser that is logged in. */
export type SessionHandler = (c: Context, request: SessionRequest) => Response | Promise<Response>

type Method = 'GET' | 'PUT' | 'DELETE' | 'POST'

/**
 * Who may take a route, and what handles it.
 * `open`: everyone, always. `reader`: everyone, unless the registry is private; then a token with
 * the scope `read`, or for GET and HEAD a login in the browser. `member`: any valid token. Scopes:
 * a token with one of them; the handler checks what depends on the crate. `visitor`: every browser.
 * `session`: a browser that is logged in; `admin`: as an administrator. Tokens open none of these
 * three, so no token makes another; the guard checks that a posted form is ours.
 */
export type Access = (
  | { readonly access: 'open' | 'reader' | 'member'; readonly handle: OpenHandler }
  | { readonly access: readonly [Scope, ...Scope[]]; readonly handle: ActorHandler }
  | { readonly access: 'visitor'; readonly handle: BrowserHandler }
  | { readonly access: 'session' | 'admin'; readonly handle: SessionHandler }
) & {
  /** The rate limit it counts against: searches by address, logins by `ofLogin`, others by user. */
  readonly counts?: Counted
}

/** A route and who may take it; without a declared access it does not compile. */
export type Route = Access & { readonly method: Method; readonly path: string }

/** A route whose caller shows a token with one of these scopes. */
export type ActorRoute = Extract<Route, { readonly access: readonly Scope[] }>

/** A route for browsers. */
export type BrowserRoute = Extract<Route, { readonly access: 'visitor' | 'session' | 'admin' }>

const route = (method: Method) => (path: string, access: Access) => ({ method, path, ...access })

/** Routes by their method, one line each in the tables of routes. */
export const [get, put, post, remove] = [route('GET'), route('PUT'), route('POST'), route('DELETE')]

/** Everyone, always. */
export const open = (handle: OpenHandler): Access => ({ access: 'open', handle })

/** Everyone, or who may read a private registry. */
export const reader = (handle: OpenHandler, counts?: Counted): Access => {
  return { access: 'reader', handle, ...(counts && { counts }) }
}

/** Everyone with a valid token. */
export const member = (handle: OpenHandler): Access => ({ access: 'member', handle })

/** Tokens with one of these scopes. */
export const actor = (
  access: readonly [Scope, ...Scope[]],
  counts: Counted,
  handle: ActorHandler,
): Access => ({ access, counts, handle })

/** Every browser. */
export const visitor = (handle: BrowserHandler, counts?: Counted): Access => {
  return { access: 'visitor', handle, ...(counts && { counts }) }
}

/** Browsers that are logged in, or logged in as an administrator. */
export const session = (
  handle: SessionHandler,
  counts?: Counted,
  access: 'session' | 'admin' = 'session',
): Access => ({ access, handle, ...(counts && { counts }) })
