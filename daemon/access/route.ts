import type { Context } from 'hono'
import {
  type Change,
  type Database,
  isName,
  type Name,
  type Registry,
  refuse,
  timestamp,
} from '../../generator/index.ts'
import type { Account } from '../accounts/accounts.ts'
import type { LoginPriority } from '../accounts/hashing-queue.ts'
import type { Session } from '../accounts/sessions.ts'
import type { Scope } from '../accounts/tokens.ts'
import type { Actor } from './auth.ts'
import type { Counted } from './rate-limit.ts'

/** A request of a browser. */
export interface BrowserRequest {
  /** Null for a browser that is not logged in. */
  readonly session: Session | null
  /** The token that the forms of the answer carry. */
  readonly csrf: string
  /** The posted form; empty for other methods. */
  readonly form: URLSearchParams
  readonly address: string
  /** Its priority among requests that hash a password. */
  readonly priority: LoginPriority
  readonly now: Date
}

/** A request of a browser that is logged in. */
export interface SessionRequest extends BrowserRequest {
  readonly session: Session
}

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
  readonly counts?: Counted | undefined
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
  return { access: 'reader', handle, counts }
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
  return { access: 'visitor', handle, counts }
}

/** Browsers that are logged in. */
export const session = (handle: SessionHandler, counts?: Counted): Access => {
  return { access: 'session', handle, counts }
}

/** Browsers that are logged in as an administrator. */
export const admin = (handle: SessionHandler, counts?: Counted): Access => {
  return { access: 'admin', handle, counts }
}

/**
 * The crate that `:name` in a path means, as `find` reads it, by canonical name: `foo-bar` finds
 * `foo_bar`. Refuses an unknown one.
 */
export async function crateOf<Found>(
  { database }: Registry,
  c: Context,
  find: (database: Database, name: Name) => Promise<Found | null>,
): Promise<Found> {
  const name = c.req.param('name') ?? ''
  return (isName(name) && (await find(database, name))) || refuse('crate_unknown', { name })
}

/** The change that a browser makes: as the user who is logged in, another, or null for unknown. */
export function changeOf(
  { now, address, session }: BrowserRequest,
  user: Account | null = session?.user ?? null,
): Change {
  return { at: timestamp(now), actor: user?.login ?? 'unknown', user, tokenId: null, address }
}
