import { refuse } from '../../generator/index.ts'
import type { OpenHandler, Route } from '../access/route.ts'
import { goOn } from '../http/page.ts'
import { auditLog } from './audit.ts'
import { confirmRemoval, confirmYank, manage, postOwner, postRemoval, postYank } from './crates.ts'
import type { MeDeps } from './deps.ts'
import { home } from './home.ts'
import { postInvitation } from './invitations.ts'
import { postLogin, postLogout } from './login.ts'
import { passwordLink, postPassword } from './password.ts'
import { postOtherSessionsEnd, postSessionEnd } from './sessions.ts'
import { postRevocation, postToken } from './tokens.ts'
import { postUser, postUserAction, users } from './users.ts'

/** `/me`: everything people do in a browser. Works without JavaScript: links ask, forms change. */
export function meRoutes(deps: MeDeps): Route[] {
  const crate = '/me/crates/:name'
  return [
    { method: 'GET', path: '/me', access: 'visitor', handle: home(deps) },
    { method: 'GET', path: '/me/login', access: 'visitor', handle: home(deps) },
    {
      method: 'POST',
      path: '/me/login',
      access: 'visitor',
      counts: 'login',
      handle: postLogin(deps),
    },
    { method: 'POST', path: '/me/logout', access: 'session', handle: postLogout(deps) },
    { method: 'GET', path: '/me/password', access: 'visitor', handle: passwordLink(deps) },
    {
      method: 'POST',
      path: '/me/password',
      access: 'visitor',
      counts: 'password',
      handle: postPassword(deps),
    },
    {
      method: 'POST',
      path: '/me/tokens',
      access: 'session',
      counts: 'change',
      handle: postToken(deps),
    },
    ...change('/me/tokens/:id/revoke', postRevocation(deps)),
    ...change('/me/sessions/:id/end', postSessionEnd(deps)),
    ...change('/me/sessions/end', postOtherSessionsEnd(deps)),
    ...change('/me/invitations/:name/accept', postInvitation(deps, true)),
    ...change('/me/invitations/:name/decline', postInvitation(deps, false)),
    { method: 'GET', path: crate, access: 'session', handle: manage(deps) },
    { method: 'GET', path: `${crate}/yank`, access: 'session', handle: confirmYank(deps, true) },
    ...change(`${crate}/yank`, postYank(deps, true)),
    { method: 'GET', path: `${crate}/unyank`, access: 'session', handle: confirmYank(deps, false) },
    ...change(`${crate}/unyank`, postYank(deps, false)),
    ...change(`${crate}/owners/add`, postOwner(deps)),
    {
      method: 'GET',
      path: `${crate}/owners/remove`,
      access: 'session',
      handle: confirmRemoval(deps),
    },
    ...change(`${crate}/owners/remove`, postRemoval(deps)),
    { method: 'GET', path: '/me/admin/users', access: 'admin', handle: users(deps) },
    {
      method: 'POST',
      path: '/me/admin/users/add',
      access: 'admin',
      counts: 'change',
      handle: postUser(deps),
    },
    {
      method: 'POST',
      path: '/me/admin/users/:login/:action',
      access: 'admin',
      counts: 'change',
      handle: postUserAction(deps),
    },
    { method: 'GET', path: '/me/admin/audit', access: 'admin', handle: auditLog(deps) },
    { method: 'GET', path: '/me/*', access: 'visitor', handle: elsewhere(deps) },
  ]
}

/** Addresses of these pages end without a slash; who writes one is led there. */
function elsewhere({ registry }: MeDeps): OpenHandler {
  return c => {
    const path = c.req.path.replace(/\/+$/, '')
    if (path === c.req.path) refuse('route_unknown')
    return goOn(c, registry.site, `${path}${new URL(c.req.url).search}`)
  }
}

function change(
  path: string,
  handle: Extract<Route, { access: 'session' | 'admin' }>['handle'],
): Route[] {
  return [{ method: 'POST', path, access: 'session', counts: 'change', handle }]
}
