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
import type { LoginPriority } from '../accounts/password.ts'
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

type Answer = Response | Promise<Response>

/** Handles a request of somebody unknown. */
export type OpenHandler = (c: Context) => Answer

/** Handles a request of somebody who showed a valid token. */
export type ActorHandler = (c: Context, actor: Actor) => Answer

/** Handles a request of a browser, logged in or not. */
export type BrowserHandler = (c: Context, request: BrowserRequest) => Answer

/** Handles a request of a browser that is logged in. */
export type SessionHandler = (c: Context, request: SessionRequest) => Answer

type Method = 'GET' | 'PUT' | 'DELETE' | 'POST'

/**
 * A route, who may take it, and what handles it; without a declared access it does not compile.
 * `open`: everyone, always. `reader`: everyone, unless the registry is private; then a token with
 * the scope `read`, or for GET and HEAD a login in the browser. `member`: any valid token. Scopes:
 * a token with one of them; the handler checks what depends on the crate. `visitor`: every browser.
 * `session`: a browser that is logged in; `admin`: as an administrator. Tokens open none of these
 * three, so no token makes another; the guard checks that a posted form is ours.
 */
export type Route = (
  | { readonly access: 'open' | 'reader' | 'member'; readonly handle: OpenHandler }
  | { readonly access: readonly [Scope, ...Scope[]]; readonly handle: ActorHandler }
  | { readonly access: 'visitor'; readonly handle: BrowserHandler }
  | { readonly access: 'session' | 'admin'; readonly handle: SessionHandler }
) & {
  readonly method: Method
  readonly path: string
  /** The rate limit it counts against: searches by address, logins by `ofLogin`, others by user. */
  readonly counts?: Counted | undefined
}

/** A route for programs without a token, too. */
export type OpenRoute = Extract<Route, { readonly handle: OpenHandler }>

/** A route whose caller shows a token with one of these scopes. */
export type ActorRoute = Extract<Route, { readonly access: readonly Scope[] }>

/** A route for browsers. */
export type BrowserRoute = Extract<Route, { readonly access: 'visitor' | 'session' | 'admin' }>

type Row<R = Route> = R extends Route
  ? [access: R['access'], handle: R['handle'], counts?: Counted]
  : never

const route =
  (method: Method) =>
  (path: string, ...[access, handle, counts]: Row) =>
    ({ method, path, access, handle, counts }) as Route

/** Routes by their method, one line each in the tables of routes. */
export const [get, put, post, remove] = [route('GET'), route('PUT'), route('POST'), route('DELETE')]

/** The crate that `:name` in a path means, in any spelling (`foo-bar` finds `foo_bar`). */
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
