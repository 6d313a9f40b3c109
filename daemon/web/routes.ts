// daemon/web: The pages of people who log in. app.ts lists their routes; a handler never imports
// another.
import type { Context } from 'hono'
import { refuse } from '../../core/error/error.ts'
import { get, giving, post, type Route, type SessionRequest } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { redirect } from '../http/page.ts'
import { invitationAnswer, otherSessionsEnd, postToken, revocation, sessionEnd } from './account.ts'
import { auditLog, postUser, userAction, users } from './admin.ts'
import { crateTrust, deprecation, manage, newOwner, ownerRemoval, yank } from './crates.ts'
import { home, passwordLink, postLogin, postLogout, postPassword } from './login.ts'
import { type Action, doAction, showQuestion, type Task } from './notice.ts'
import { oidcCallback, oidcStart } from './oidc.ts'
import { status } from './status.ts'
import { rulesChange, trust } from './trust.ts'
import { upstreamAdmin, versionDecision } from './upstream.ts'

/** Returns the routes of `/me`, the account pages. They work without JavaScript. */
export function meRoutes(deps: Deps): Route[] {
  const crate = '/me/crates/:name'
  const on = giving(deps)
  const to = (handle: (task: Task) => Response | Promise<Response>) => {
    return (c: Context, request: SessionRequest) => handle({ ...deps, c, request })
  }
  const ask = (action: Action) => to(task => showQuestion(action, task))
  const act = (action: Action) => to(task => doAction(action, task))
  const both = (path: string, access: 'session' | 'admin', action: Action) => [
    get(path, access, ask(action)),
    post(path, access, act(action), 'change'),
  ]
  // Not counted: a thief of a token could use up the limit, and nobody could revoke the token.
  const end = (path: string, action: Action) => [
    get(path, 'session', ask(action)),
    post(path, 'session', act(action)),
  ]
  // Without an API, the pages cannot change crates; readers still need accounts and tokens.
  const off = () => refuse('api_off')
  const ofCrates = (action: Action): Action =>
    deps.registry.urls.api === null ? { ask: off, act: off } : action
  const crates = (path: string, action: Action) => both(path, 'session', ofCrates(action))
  const sent = (path: string, action: Action) =>
    post(path, 'session', act(ofCrates(action)), 'change')
  return [
    get('/me', 'visitor', on(home)),
    get('/me/login', 'visitor', on(home)),
    post('/me/login', 'visitor', on(postLogin()), 'login'),
    get('/me/oidc/:issuer', 'visitor', on(oidcStart), 'issuer'),
    get('/me/oidc/:issuer/callback', 'visitor', on(oidcCallback), 'issuer'),
    post('/me/logout', 'session', on(postLogout)),
    get('/me/password', 'visitor', on(passwordLink)),
    post('/me/password', 'visitor', on(postPassword), 'password'),
    post('/me/tokens', 'session', to(postToken), 'change'),
    ...end('/me/tokens/:id/revoke', revocation),
    ...end('/me/sessions/:id/end', sessionEnd),
    ...end('/me/sessions/end', otherSessionsEnd),
    sent('/me/invitations/:name/accept', invitationAnswer(true)),
    ...crates('/me/invitations/:name/decline', invitationAnswer(false)),
    get(crate, 'session', to(manage)),
    ...crates(`${crate}/yank`, yank(true)),
    ...crates(`${crate}/unyank`, yank(false)),
    sent(`${crate}/deprecate`, deprecation(true)),
    ...crates(`${crate}/undeprecate`, deprecation(false)),
    sent(`${crate}/owners/add`, newOwner),
    ...crates(`${crate}/owners/remove`, ownerRemoval),
    ...crates(`${crate}/trust/:action`, crateTrust),
    get('/me/admin/trust', 'admin', to(trust)),
    ...both('/me/admin/trust/:action', 'admin', rulesChange),
    get('/me/admin/users', 'admin', to(users)),
    post('/me/admin/users/add', 'admin', to(postUser), 'change'),
    ...both('/me/admin/users/:login/:action', 'admin', userAction),
    get('/me/admin/audit', 'admin', to(auditLog)),
    get('/me/admin/status', 'admin', to(status)),
    get('/me/admin/upstream/:name', 'admin', to(upstreamAdmin)),
    ...both('/me/admin/upstream/:name/:action', 'admin', versionDecision),
    get('/me/*', 'visitor', on(withoutSlash)),
  ]
}

function withoutSlash({ registry }: Deps, c: Context) {
  const path = c.req.path.replace(/(?<!\/)\/+$/, '')
  if (path === c.req.path) refuse('route_unknown')
  return redirect(c, registry.site, `${path}${new URL(c.req.url).search}`)
}
