import type { Context } from 'hono'
import { Refusal, refusalOnly, refuse } from '../../core/error/error.ts'
import { findUser } from '../../generator/accounts/accounts.ts'
import {
  type Credential,
  checkPassword,
  makeDevice,
  requireCredential,
  requireLink,
  setPassword,
} from '../../generator/accounts/credentials.ts'
import { endSession, type SessionWay } from '../../generator/accounts/sessions.ts'
import { addEvent, makeChange, type StillMay } from '../../generator/records/change.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { RateLimit } from '../access/rate-limits.ts'
import {
  type BrowserRequest,
  changeOf,
  type SessionRequest,
  strangerChange,
} from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { dropCookie, readCookie, writeCookie } from '../http/cookies.ts'
import { recordSubject } from '../http/log.ts'
import { redirect, reloadPage } from '../http/page.ts'
import { isLinked, loginOf, ownPath } from '../http/request-body.ts'
import { showHome } from './home-page.ts'
import { attempt, noticeOf, redirectDone } from './notice.ts'
import { logIn, showLogin } from './session.ts'

/** The longest that browsers keep a cookie (RFC 6265bis §5.5). */
const DEVICE_SECONDS = 400 * 86_400

/** Failed logins a minute that get an audit event: strangers could fill the disk with more. */
const FAILURES_LOGGED = 30

/** `GET /me`: the page that `cargo login` points to; without a session, the login form. */
export function home({ registry }: Deps, c: Context, request: BrowserRequest) {
  const { settings, site } = registry
  const next = ownPath(c.req.query('next'))
  const { session } = request
  if (!session && isLinked(c)) return reloadPage(c, site)
  const [issuer, another] = Object.keys(settings.oidc)
  const isOnly = settings.auth.passwords === 'off' && another === undefined
  // Once a visit: an issuer that sends people back would send them round and round.
  if (!session && issuer && isOnly && readCookie(c, registry, 'visit') === undefined) {
    writeCookie(c, registry, 'visit', '1')
    return redirect(c, site, `/me/oidc/${issuer}?next=${encodeURIComponent(next ?? '/me')}`)
  }
  if (!session) return showLogin(registry, c, request, { next })
  if (next !== null) return redirect(c, site, next)
  if (c.req.path !== '/me') return redirect(c, site, '/me')
  return showHome(registry, c, { ...request, session }, { notice: noticeOf(c, registry) })
}

/** `POST /me/login`. A failed login reveals neither existing accounts nor the typed text. */
export function postLogin() {
  const failures = new RateLimit(FAILURES_LOGGED)
  return ({ registry }: Deps, c: Context, request: BrowserRequest) => {
    const { database, settings, site } = registry
    const { form, priority, now } = request
    const login = loginOf(form)
    const next = ownPath(form.get('next'))
    const work = async () => {
      requirePasswords(registry)
      const attempt = { login, password: form.get('password') ?? '', priority }
      const credential = await checkPassword(database, attempt, settings.auth.password_cost)
      if (!credential) {
        // Log the login only if it belongs to an account: other text may be a password typed into
        // the wrong field.
        const account = await findUser(database, login)
        if (account) recordSubject(c, { user: account.login })
        const detail = account && { detail: { login: account.login } }
        const event = { action: 'login-failed', ...detail }
        if (failures.take('all', now).wait === 0) {
          const change = strangerChange(request)
          await makeChange(database, change, 'anybody', (tx, by) => addEvent(tx, by, event))
        }
        return refuse('login_failed')
      }
      await logInWith(registry, c, request, credential, 'password')
      return redirect(c, site, next ?? '/me')
    }
    return attempt(c, work, refused => showLogin(registry, c, request, { login, next, ...refused }))
  }
}

/** `POST /me/logout`. */
export async function postLogout({ registry }: Deps, c: Context, request: SessionRequest) {
  await endSession(registry.database, request.session, request.change, 'logout')
  dropCookie(c, registry, 'session')
  dropCookie(c, registry, 'user')
  // Whoever logs out is not logged in again by being sent to the issuer.
  writeCookie(c, registry, 'visit', '1')
  return redirect(c, registry.site, '/me')
}

/** `GET /me/password?link=…`: the form of a one-time link. Opening it does not use it up. */
export async function passwordLink({ registry }: Deps, c: Context, request: BrowserRequest) {
  const { database, site } = registry
  const reset = c.req.query('link') ?? ''
  if (reset === '' && request.session) return redirect(c, site, '/me')
  const work = async () => {
    // Its form would be that of a browser without a session.
    if (!request.session && isLinked(c)) return reloadPage(c, site)
    const { login } = await requireLink(database, reset, request.now)
    return showLogin(registry, c, request, { reset, login })
  }
  const answer = await attempt(c, work, refused => showLogin(registry, c, request, refused))
  // Not `same-origin`: stylesheets would be asked for with the secret in `Referer`.
  if (reset !== '') answer.headers.set('referrer-policy', 'strict-origin')
  return answer
}

/** `POST /me/password`: requires a one-time link, or a session and the current password. */
export function postPassword({ registry }: Deps, c: Context, request: BrowserRequest) {
  const reset = request.form.get('reset')
  if (reset !== null) return byLink(registry, c, request, reset)
  const { session } = request
  return session ? byOwner(registry, c, { ...request, session }) : refuse('session_absent')
}

function byLink(registry: Registry, c: Context, request: BrowserRequest, reset: string) {
  const { database, settings, site } = registry
  const { form, now } = request
  const work = async () => {
    const stillMay: StillMay = tx => requireLink(tx, reset, now)
    if (settings.auth.passwords === 'off') {
      const owner = await requireLink(database, reset, now)
      await logIn(registry, c, request, owner, 'link', stillMay)
      return redirect(c, site, '/me')
    }
    const order = { password: newPassword(form), cost: settings.auth.password_cost }
    const owner = await requireLink(database, reset, now)
    const change = changeOf(request, owner, stillMay)
    const credential = await setPassword(database, owner, order, change)
    await logInWith(registry, c, request, credential, 'link')
    return redirect(c, site, '/me')
  }
  return attempt(c, work, async refused => {
    const owner = await requireLink(database, reset, now).catch(refusalOnly)
    const form = owner instanceof Refusal ? {} : { reset, login: owner.login }
    return showLogin(registry, c, request, { ...refused, ...form })
  })
}

function byOwner(registry: Registry, c: Context, request: SessionRequest) {
  const { database, settings } = registry
  const { form, priority } = request
  const { user } = request.session
  const work = async () => {
    requirePasswords(registry)
    const cost = settings.auth.password_cost
    const attempt = { login: user.login, password: form.get('current') ?? '', priority }
    if (!(await checkPassword(database, attempt, cost))) {
      const detail = { login: user.login }
      const event = { action: 'password-wrong', detail }
      await makeChange(database, request.change, 'user', (tx, by) => addEvent(tx, by, event))
      refuse('password_wrong')
    }
    const order = { password: newPassword(form), cost }
    const credential = await setPassword(database, user, order, request.change)
    await logInWith(registry, c, request, credential, 'password')
    return redirectDone(c, registry, '/me', 'password-changed', user.login)
  }
  return attempt(c, work, refused => showHome(registry, c, request, refused))
}

function newPassword(form: URLSearchParams): string {
  const password = form.get('password') ?? ''
  return form.get('again') === password ? password : refuse('passwords_differ')
}

function requirePasswords({ settings }: Registry): void {
  if (settings.auth.passwords === 'off') refuse('passwords_off')
}

async function logInWith(
  registry: Registry,
  c: Context,
  request: BrowserRequest,
  credential: Credential,
  way: SessionWay,
): Promise<void> {
  const time = { now: request.now, rules: registry.settings }
  // The password may have changed while it was hashed: do not log in with the old one.
  await logIn(registry, c, request, credential.user, way, tx =>
    requireCredential(tx, credential, time, way),
  )
  writeCookie(c, registry, 'device', makeDevice(credential), DEVICE_SECONDS)
}
