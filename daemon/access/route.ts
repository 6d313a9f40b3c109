import type { Context } from 'hono'
import { refuse } from '../../core/error/error.ts'
import { isName, type Name } from '../../core/name.ts'
import { timestamp } from '../../core/timestamp.ts'
import type { Account } from '../../generator/accounts/accounts.ts'
import type { LoginPriority } from '../../generator/accounts/password.ts'
import type { Session } from '../../generator/accounts/sessions.ts'
import type { Scope } from '../../generator/accounts/tokens.ts'
import type { Database } from '../../generator/database/connection.ts'
import type { Change, StillMay } from '../../generator/records/change.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import type { Actor } from './auth.ts'
import type { Action } from './rate-limits.ts'

export interface BrowserRequest {
  readonly session: Session | null
  /** The anti-CSRF token for the forms on the answered page. */
  readonly csrf: string
  /** Who makes a change: the user of a session that must still be valid then, or nobody. */
  readonly change: Change
  readonly form: URLSearchParams
  readonly address: string
  /** Its priority among requests that hash a password. */
  readonly priority: LoginPriority
  readonly now: Date
}

export interface SessionRequest extends BrowserRequest {
  readonly session: Session
}

type Answer = Response | Promise<Response>

export type OpenHandler = (c: Context) => Answer

type Method = 'GET' | 'PUT' | 'DELETE' | 'POST' | 'PATCH'

/**
 * A route with its access rule and its handler; a route without an access rule does not compile.
 * `open`: everyone, always. `reader`: everyone; in a private registry only a token with the scope
 * `read`, or for GET and HEAD a logged-in browser. `member`: any valid token. Scopes: a token with
 * one of them; the handler checks crate permissions. `visitor`: every browser. `session`: a
 * logged-in browser. `admin`: a logged-in administrator. Tokens do not open these last three, so no
 * token can create another; for them, the guard checks the origin of a posted form.
 */
export type Route = (
  | { readonly access: 'open' | 'reader' | 'member'; readonly handle: OpenHandler }
  | {
      readonly access: readonly [Scope, ...Scope[]]
      readonly handle: (c: Context, actor: Actor) => Answer
    }
  | { readonly access: 'visitor'; readonly handle: (c: Context, request: BrowserRequest) => Answer }
  | {
      readonly access: 'session' | 'admin'
      readonly handle: (c: Context, request: SessionRequest) => Answer
    }
) & {
  readonly method: Method
  readonly path: string
  /** The rate limit that counts it: reads by address, logins by `ofLogin`, others by user. */
  readonly counts?: Action | undefined
}

export type OpenRoute = Extract<Route, { readonly handle: OpenHandler }>

export type ActorRoute = Extract<Route, { readonly access: readonly Scope[] }>

export type BrowserRoute = Extract<Route, { readonly access: 'visitor' | 'session' | 'admin' }>

type Row<R = Route> = R extends Route
  ? [access: R['access'], handle: R['handle'], counts?: Action]
  : never

const route =
  (method: Method) =>
  (path: string, ...[access, handle, counts]: Row) =>
    ({ method, path, access, handle, counts }) as Route

/** Functions by method that let a route table define each route in one line. */
export const [get, put, post] = [route('GET'), route('PUT'), route('POST')]
export const [remove, patch] = [route('DELETE'), route('PATCH')]

const READING = 'reading'

/** Adds milliseconds of processor time that reading a publish took. */
export function recordReading(c: Context, milliseconds: number): void {
  c.set(READING, readingOf(c) + milliseconds)
}

/** Returns the time that `recordReading` recorded; 0 if nothing was read. */
export function readingOf(c: Context): number {
  return (c.get(READING) as number | undefined) ?? 0
}

/** Finds the crate of `:name` in a path, in any spelling (`foo-bar` finds `foo_bar`). */
export async function crateOf<Found>(
  { database }: Registry,
  c: Context,
  find: (database: Database, name: Name) => Promise<Found | null>,
): Promise<Found> {
  const name = c.req.param('name') ?? ''
  return (isName(name) && (await find(database, name))) || refuse('crate_unknown', { name })
}

type Sender = Pick<BrowserRequest, 'now' | 'address'>

/** Returns a change by a user; `stillMay` requires their right when it is made. */
export function changeOf({ now, address }: Sender, user: Account, stillMay: StillMay): Change {
  const by = { actor: user.login, user, tokenId: null, address, stillMay }
  return { at: timestamp(now), who: 'user', ...by }
}

/** Returns a change by an unknown actor. */
export function strangerChange({ now, address }: Sender): Change {
  return { at: timestamp(now), actor: 'unknown', who: 'stranger', address }
}

/** Returns what gives a handler the shared dependencies as its first argument. */
export function giving<Deps>(deps: Deps) {
  return <A extends unknown[], R>(handle: (deps: Deps, ...rest: A) => R) =>
    (...rest: A): R =>
      handle(deps, ...rest)
}
