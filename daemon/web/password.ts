import type { Context } from 'hono'
import { addEvent, issue, Refusal, refuse } from '../../generator/index.ts'
import { checkPassword, linkOwner, redeemLink, setPassword } from '../accounts/credentials.ts'
import { honestStatus } from '../http/failure.ts'
import { goOn, siteOf } from '../http/page.ts'
import type { VisitHandler } from '../access/route.ts'
import { changeOf, type SessionVisit, type Visit } from '../access/visit.ts'
import type { MeDeps } from './deps.ts'
import { showHome } from './home.ts'
import { letIn, loginForm } from './login.ts'
import { failed, tell } from './notice.ts'

/** `GET /me/password?link=…`: the form that a one-time link leads to. Looking at it does not use the link up. */
export function passwordLink({ registry }: MeDeps): VisitHandler {
  const site = siteOf(registry)
  return async (c, visit) => {
    const reset = c.req.query('link') ?? ''
    if (reset === '' && visit.session) return goOn(c, site, '/me')
    const user = await linkOwner(registry.database, reset, visit.now)
    if (user) return loginForm(c, site, visit, { reset, login: user.login })
    const { refusal, notice } = failed(c, new Refusal([issue('link_invalid')]))
    return loginForm(c, site, visit, { notice, status: honestStatus(refusal) })
  }
}

/** `POST /me/password`: by a one-time link, or by who is logged in and knows the current one. */
export function postPassword(deps: MeDeps): VisitHandler {
  return async (c, visit) => {
    const reset = visit.form.get('reset')
    if (reset !== null) return byLink(deps, c, visit, reset)
    const { session } = visit
    return session ? byOwner(deps, c, { ...visit, session }) : refuse('session_absent')
  }
}

async function byLink(deps: MeDeps, c: Context, visit: Visit, reset: string): Promise<Response> {
  const { registry } = deps
  const { database } = registry
  const site = siteOf(registry)
  const owner = await linkOwner(database, reset, visit.now)
  try {
    const order = { password: visit.form.get('password') ?? '', cost: cost(deps), now: visit.now }
    await redeemLink(database, reset, order, user => changeOf(visit, user))
  } catch (error) {
    const { refusal, notice } = failed(c, error)
    const again = owner && !refusal.has('link_invalid') ? { reset, login: owner.login } : {}
    return loginForm(c, site, visit, { notice, status: honestStatus(refusal), ...again })
  }
  if (owner) await letIn(deps, c, visit, owner)
  return goOn(c, site, '/me')
}

async function byOwner(deps: MeDeps, c: Context, visit: SessionVisit): Promise<Response> {
  const { database } = deps.registry
  const { user } = visit.session
  try {
    const current = visit.form.get('current') ?? ''
    const attempt = { login: user.login, password: current, standing: visit.standing }
    const isRight = await checkPassword(database, attempt, cost(deps))
    if (!isRight) {
      await addEvent(database, changeOf(visit, user), { action: 'password-wrong', detail: { login: user.login } })
      refuse('password_wrong')
    }
    const order = { password: visit.form.get('password') ?? '', cost: cost(deps) }
    await setPassword(database, user, order, changeOf(visit, user))
  } catch (error) {
    const { refusal, notice } = failed(c, error)
    return showHome(deps, c, visit, { notice, status: honestStatus(refusal) })
  }
  await letIn(deps, c, visit, user)
  return goOn(c, siteOf(deps.registry), tell('/me', 'password-changed'))
}

function cost({ registry }: MeDeps): number {
  return registry.settings.auth.password_cost
}
