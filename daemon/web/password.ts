import type { Context } from 'hono'
import { addEvent, issue, Refusal, refuse } from '../../generator/index.ts'
import { type BrowserRequest, changeOf, type SessionRequest } from '../access/browser-request.ts'
import type { BrowserHandler } from '../access/route.ts'
import { checkPassword, linkOwner, redeemLink, setPassword } from '../accounts/credentials.ts'
import type { Deps } from '../deps.ts'
import { honestStatus } from '../http/failure.ts'
import { redirect } from '../http/page.ts'
import { logIn } from './browser-session.ts'
import { showHome } from './home-page.ts'
import { showLogin } from './login-page.ts'
import { failed, withNotice } from './notice.ts'

/** `GET /me/password?link=…`: the form of a one-time link. Opening it does not use it up. */
export function passwordLink({ registry }: Deps): BrowserHandler {
  const site = registry.site
  return async (c, request) => {
    const reset = c.req.query('link') ?? ''
    if (reset === '' && request.session) return redirect(c, site, '/me')
    const user = await linkOwner(registry.database, reset, request.now)
    if (user) return showLogin(c, site, request, { reset, login: user.login })
    const { refusal, notice } = failed(c, new Refusal([issue('link_invalid')]))
    return showLogin(c, site, request, { notice, status: honestStatus(refusal) })
  }
}

/** `POST /me/password`: by a one-time link, or by who is logged in and knows the current one. */
export function postPassword(deps: Deps): BrowserHandler {
  return async (c, request) => {
    const reset = request.form.get('reset')
    if (reset !== null) return byLink(deps, c, request, reset)
    const { session } = request
    return session ? byOwner(deps, c, { ...request, session }) : refuse('session_absent')
  }
}

async function byLink(
  deps: Deps,
  c: Context,
  request: BrowserRequest,
  reset: string,
): Promise<Response> {
  const { registry } = deps
  const { database } = registry
  const site = registry.site
  const owner = await linkOwner(database, reset, request.now)
  try {
    const order = {
      password: request.form.get('password') ?? '',
      cost: cost(deps),
      now: request.now,
    }
    await redeemLink(database, reset, order, user => changeOf(request, user))
  } catch (error) {
    const { refusal, notice } = failed(c, error)
    const again = owner && !refusal.has('link_invalid') ? { reset, login: owner.login } : {}
    return showLogin(c, site, request, { notice, status: honestStatus(refusal), ...again })
  }
  if (owner) await logIn(deps, c, request, owner)
  return redirect(c, site, '/me')
}

async function byOwner(deps: Deps, c: Context, request: SessionRequest): Promise<Response> {
  const { database } = deps.registry
  const { user } = request.session
  try {
    const current = request.form.get('current') ?? ''
    const attempt = { login: user.login, password: current, priority: request.priority }
    const isRight = await checkPassword(database, attempt, cost(deps))
    if (!isRight) {
      await addEvent(database, changeOf(request, user), {
        action: 'password-wrong',
        detail: { login: user.login },
      })
      refuse('password_wrong')
    }
    const order = { password: request.form.get('password') ?? '', cost: cost(deps) }
    await setPassword(database, user, order, changeOf(request, user))
  } catch (error) {
    const { refusal, notice } = failed(c, error)
    return showHome(deps, c, request, { notice, status: honestStatus(refusal) })
  }
  await logIn(deps, c, request, user)
  return redirect(c, deps.registry.site, withNotice('/me', 'password-changed'))
}

function cost({ registry }: Deps): number {
  return registry.settings.auth.password_cost
}
