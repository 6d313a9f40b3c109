import { refuse } from '../../core/error/error.ts'
import { type BrowserHandler, get, post, type Route, type SessionHandler } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { redirect } from '../http/page.ts'
import {
  postInvitation,
  postOtherSessionsEnd,
  postRevocation,
  postSessionEnd,
  postToken,
} from './account.ts'
import { auditLog, postUser, postUserAction, users } from './admin.ts'
import { confirmRemoval, confirmYank, manage, postOwner, postRemoval, postYank } from './crates.ts'
import { home, passwordLink, postLogin, postLogout, postPassword } from './login.ts'
import { status } from './status.ts'
import { postUpstream, upstreamAdmin } from './upstream.ts'

/** Returns the routes of `/me`, the account pages. They work without JavaScript. */
export function meRoutes(deps: Deps): Route[] {
  const crate = '/me/crates/:name'
  const change = (path: string, handle: SessionHandler) => post(path, 'session', handle, 'change')
  // Without an API, the pages cannot change crates; readers still need accounts and tokens.
  const crates = (handle: SessionHandler): SessionHandler =>
    deps.registry.urls.api === null ? () => refuse('api_off') : handle
  return [
    get('/me', 'visitor', home(deps)),
    get('/me/login', 'visitor', home(deps)),
    post('/me/login', 'visitor', postLogin(deps), 'login'),
    post('/me/logout', 'session', postLogout(deps)),
    get('/me/password', 'visitor', passwordLink(deps)),
    post('/me/password', 'visitor', postPassword(deps), 'password'),
    change('/me/tokens', postToken(deps)),
    change('/me/tokens/:id/revoke', postRevocation(deps)),
    change('/me/sessions/:id/end', postSessionEnd(deps)),
    change('/me/sessions/end', postOtherSessionsEnd(deps)),
    change('/me/invitations/:name/accept', crates(postInvitation(deps, true))),
    change('/me/invitations/:name/decline', crates(postInvitation(deps, false))),
    get(crate, 'session', manage(deps)),
    get(`${crate}/yank`, 'session', crates(confirmYank(deps, true))),
    change(`${crate}/yank`, crates(postYank(deps, true))),
    get(`${crate}/unyank`, 'session', crates(confirmYank(deps, false))),
    change(`${crate}/unyank`, crates(postYank(deps, false))),
    change(`${crate}/owners/add`, crates(postOwner(deps))),
    get(`${crate}/owners/remove`, 'session', crates(confirmRemoval(deps))),
    change(`${crate}/owners/remove`, crates(postRemoval(deps))),
    get('/me/admin/users', 'admin', users(deps)),
    post('/me/admin/users/add', 'admin', postUser(deps), 'change'),
    post('/me/admin/users/:login/:action', 'admin', postUserAction(deps), 'change'),
    get('/me/admin/audit', 'admin', auditLog(deps)),
    get('/me/admin/status', 'admin', status(deps)),
    get('/me/admin/upstream/:name', 'admin', upstreamAdmin(deps)),
    post('/me/admin/upstream/:name/:action', 'admin', postUpstream(deps), 'change'),
    get('/me/*', 'visitor', withoutSlash(deps)),
  ]
}

/** Redirects a path with a final slash to the page without it. */
function withoutSlash({ registry }: Deps): BrowserHandler {
  return c => {
    const path = c.req.path.replace(/(?<!\/)\/+$/, '')
    if (path === c.req.path) refuse('route_unknown')
    return redirect(c, registry.site, `${path}${new URL(c.req.url).search}`)
  }
}
