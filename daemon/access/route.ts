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

/** A route whose caller shows a token good for one of the scopes; the handler checks what depends on the crate. */
export interface ActorRoute {
  readonly access: readonly [Scope, ...Scope[]]
  readonly handle: ActorHandler
}

/** A route for browsers. */
export type BrowserRoute =
  | { readonly access: 'visitor'; readonly handle: BrowserHandler }
  | { readonly access: 'session' | 'admin'; readonly handle: SessionHandler }

/**
 * A route and who may take it; without a declared access it does not compile.
 * `open`: everyone, always. `reader`: everyone, unless the registry is private; then a token good for `read`, or, for
 * what changes nothing, a login in the browser.
 * `member`: whoever has a valid token, whatever it is good for.
 * `visitor`: every browser. `session`: a browser that is logged in; `admin`: as an administrator. Tokens open none of
 * these, so no token makes another. What is posted there has come from a form of ours: the guard sees to that.
 */
export type Route = {
  readonly method: 'GET' | 'PUT' | 'DELETE' | 'POST'
  readonly path: string
  /** What a request counts as with the rate limits: searches by address, logins as `RateLimits` says, others by user. */
  readonly counts?: Counted
} & (
  | { readonly access: 'open'; readonly handle: OpenHandler }
  | { readonly access: 'reader'; readonly handle: OpenHandler }
  | { readonly access: 'member'; readonly handle: OpenHandler }
  | ActorRoute
  | BrowserRoute
)
