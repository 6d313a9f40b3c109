// daemon/web: The pages of people who log in. app.ts lists their routes; a handler never imports
// another.
import type { Context } from 'hono'
import { refuse } from '../../core/error/error.ts'
import { get, giving, post, type Route, type SessionRequest } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { redirect } from '../http/page.ts'
import {
  askDecline,
  askOtherSessionsEnd,
  askRevocation,
  askSessionEnd,
  postInvitation,
  postOtherSessionsEnd,
  postRevocation,
  postSessionEnd,
  postToken,
} from './account.ts'
import { askUserAction, auditLog, postUser, postUserAction, users } from './admin.ts'
import {
  askCrateTrust,
  confirmRemoval,
  confirmYank,
  manage,
  postCrateTrust,
  postDeprecation,
  postOwner,
  postRemoval,
  postYank,
} from './crates.ts'
import { home, passwordLink, postLogin, postLogout, postPassword } from './login.ts'
import { oidcCallback, oidcStart } from './oidc.ts'
import { status } from './status.ts'
import { askTrust, postTrust, trust } from './trust.ts'
import { askUpstream, postUpstream, upstreamAdmin } from './upstream.ts'

type Handle = (deps: Deps, c: Context, request: SessionRequest) => Response | Promise<Response>

/** Returns the routes of `/me`, the account pages. They work without JavaScript. */
export function meRoutes(deps: Deps): Route[] {
  const crate = '/me/crates/:name'
  const on = giving(deps)
  const change = (path: string, handle: Handle) => post(path, 'session', on(handle), 'change')
  // Not counted: a thief of a token could use up the limit, and nobody could revoke the token.
  const end = (path: string, handle: Handle) => post(path, 'session', on(handle))
  // Without an API, the pages cannot change crates; readers still need accounts and tokens.
  const crates = (handle: Handle): Handle =>
    deps.registry.urls.api === null ? () => refuse('api_off') : handle
  return [
    get('/me', 'visitor', on(home)),
    get('/me/login', 'visitor', on(home)),
    post('/me/login', 'visitor', on(postLogin()), 'login'),
    get('/me/oidc/:issuer', 'visitor', on(oidcStart), 'issuer'),
    get('/me/oidc/:issuer/callback', 'visitor', on(oidcCallback), 'issuer'),
    end('/me/logout', postLogout),
    get('/me/password', 'visitor', on(passwordLink)),
    post('/me/password', 'visitor', on(postPassword), 'password'),
    change('/me/tokens', postToken),
    get('/me/tokens/:id/revoke', 'session', on(askRevocation)),
    end('/me/tokens/:id/revoke', postRevocation),
    get('/me/sessions/:id/end', 'session', on(askSessionEnd)),
    end('/me/sessions/:id/end', postSessionEnd),
    get('/me/sessions/end', 'session', on(askOtherSessionsEnd)),
    end('/me/sessions/end', postOtherSessionsEnd),
    change('/me/invitations/:name/accept', crates(postInvitation(true))),
    get('/me/invitations/:name/decline', 'session', on(crates(askDecline))),
    change('/me/invitations/:name/decline', crates(postInvitation(false))),
    get(crate, 'session', on(manage)),
    get(`${crate}/yank`, 'session', on(crates(confirmYank(true)))),
    change(`${crate}/yank`, crates(postYank(true))),
    get(`${crate}/unyank`, 'session', on(crates(confirmYank(false)))),
    change(`${crate}/unyank`, crates(postYank(false))),
    change(`${crate}/deprecate`, crates(postDeprecation)),
    change(`${crate}/owners/add`, crates(postOwner)),
    get(`${crate}/owners/remove`, 'session', on(crates(confirmRemoval))),
    change(`${crate}/owners/remove`, crates(postRemoval)),
    get(`${crate}/trust/:action`, 'session', on(crates(askCrateTrust))),
    change(`${crate}/trust/:action`, crates(postCrateTrust)),
    get('/me/admin/trust', 'admin', on(trust)),
    get('/me/admin/trust/:action', 'admin', on(askTrust)),
    post('/me/admin/trust/:action', 'admin', on(postTrust), 'change'),
    get('/me/admin/users', 'admin', on(users)),
    post('/me/admin/users/add', 'admin', on(postUser), 'change'),
    get('/me/admin/users/:login/:action', 'admin', on(askUserAction)),
    post('/me/admin/users/:login/:action', 'admin', on(postUserAction), 'change'),
    get('/me/admin/audit', 'admin', on(auditLog)),
    get('/me/admin/status', 'admin', on(status)),
    get('/me/admin/upstream/:name', 'admin', on(upstreamAdmin)),
    get('/me/admin/upstream/:name/:action', 'admin', on(askUpstream)),
    post('/me/admin/upstream/:name/:action', 'admin', on(postUpstream), 'change'),
    get('/me/*', 'visitor', on(withoutSlash)),
  ]
}

function withoutSlash({ registry }: Deps, c: Context) {
  const path = c.req.path.replace(/(?<!\/)\/+$/, '')
  if (path === c.req.path) refuse('route_unknown')
  return redirect(c, registry.site, `${path}${new URL(c.req.url).search}`)
}
