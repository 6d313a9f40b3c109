import type { Context } from 'hono'
import type { Actor } from './auth.ts'
import type { Scope } from './tokens.ts'

/** Handles a request of somebody unknown. */
export type OpenHandler = (c: Context) => Response | Promise<Response>

/** Handles a request of somebody who showed a valid token. */
export type ActorHandler = (c: Context, actor: Actor) => Response | Promise<Response>

/** A route whose caller shows a token good for one of the scopes; the handler checks what depends on the crate. */
export interface ActorRoute {
  readonly access: readonly [Scope, ...Scope[]]
  readonly handle: ActorHandler
}

/**
 * A route and who may take it; without a declared access it does not compile.
 * `open`: everyone, always. `reader`: everyone, unless the registry is private; then a token good for `read`.
 * `member`: whoever has a valid token, whatever it is good for.
 */
export type Route = { readonly method: 'GET' | 'PUT' | 'DELETE' | 'POST'; readonly path: string } & (
  | { readonly access: 'open'; readonly handle: OpenHandler }
  | { readonly access: 'reader'; readonly handle: OpenHandler }
  | { readonly access: 'member'; readonly handle: OpenHandler }
  | ActorRoute
)
