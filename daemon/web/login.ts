import type { Context } from 'hono'
import { html } from 'hono/html'
import { refuse } from '../../core/error/error.ts'
import { findUser } from '../../generator/accounts/accounts.ts'
import {
  type Credential,
  checkPassword,
  linkOwner,
  makeDevice,
  requireCredential,
  requireLink,
  setPassword,
} from '../../generator/accounts/credentials.ts'
import { endSession, startSession } from '../../generator/accounts/sessions.ts'
import { addEvent, makeChange } from '../../generator/records/change.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { type LoginData, loginPage } from '../../site/account/login-page.ts'
import type { SiteConfig } from '../../site/site-config.ts'
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
import { basePath, page, redirect } from '../http/page.ts'
import { isLinked, loginOf, ownPath } from '../http/request-body.ts'
import { showHome } from './home-page.ts'
import { attempt, noticeOf, type Outcome, redirectDone } from './notice.ts'

/** The longest that browsers keep a cookie (RFC 6265bis §5.5). */
const DEVICE_SECONDS = 400 * 86_400

/** Failed logins a minute that get an audit event: strangers could fill the disk with more. */
const FAILURES_LOGGED = 30

/** `GET /me`: the page that `cargo login` points to; without a session, the login form. */
export function home({ registry }: Deps, c: Context, request: BrowserRequest) {
  const { site } = registry
  const next = ownPath(c.req.query('next'))
  const { session } = request
  if (!session) return isLinked(c) ? reloadPage(c, site) : showLogin(c, site, request, { next })
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
      await logIn(registry, c, request, credential)
      return redirect(c, site, next ?? '/me')
    }
    return attempt(c, work, refused => showLogin(c, site, request, { login, next, ...refused }))
  }
}

/** `POST /me/logout`. */
export async function postLogout({ registry }: Deps, c: Context, request: SessionRequest) {
  await endSession(registry.database, request.session, request.change, 'logout')
  dropCookie(c, registry, 'session')
  dropCookie(c, registry, 'user')
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
    return showLogin(c, site, request, { reset, login })
  }
  const answer = await attempt(c, work, refused => showLogin(c, site, request, refused))
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
    const order = { password: newPassword(form), cost: settings.auth.password_cost }
    const owner = await requireLink(database, reset, now)
    const change = changeOf(request, owner, tx => requireLink(tx, reset, now))
    await logIn(registry, c, request, await setPassword(database, owner, order, change))
    return redirect(c, site, '/me')
  }
  return attempt(c, work, async refused => {
    const owner = await linkOwner(database, reset, now)
    return showLogin(c, site, request, { ...refused, ...(owner && { reset, login: owner.login }) })
  })
}

function byOwner(registry: Registry, c: Context, request: SessionRequest) {
  const { database, settings } = registry
  const { form, priority } = request
  const { user } = request.session
  const work = async () => {
    const cost = settings.auth.password_cost
    const attempt = { login: user.login, password: form.get('current') ?? '', priority }
    if (!(await checkPassword(database, attempt, cost))) {
      const detail = { login: user.login }
      const event = { action: 'password-wrong', detail }
      await makeChange(database, request.change, 'user', (tx, by) => addEvent(tx, by, event))
      refuse('password_wrong')
    }
    const order = { password: newPassword(form), cost }
    await logIn(registry, c, request, await setPassword(database, user, order, request.change))
    return redirectDone(c, registry, '/me', 'password-changed', user.login)
  }
  return attempt(c, work, refused => showHome(registry, c, request, refused))
}

function newPassword(form: URLSearchParams): string {
  const password = form.get('password') ?? ''
  return form.get('again') === password ? password : refuse('passwords_differ')
}

/** Logs a user in with a new session and ends the browser's previous one. */
async function logIn(
  registry: Registry,
  c: Context,
  request: BrowserRequest,
  credential: Credential,
): Promise<void> {
  const { database, settings } = registry
  const { user } = credential
  const seconds = settings.auth.session_seconds
  recordSubject(c, { user: user.login })
  const agent = browserName(c.req.header('user-agent') ?? '')
  const start = { agent, now: request.now, seconds, before: request.session?.id }
  // The password may have changed while it was hashed: do not log in with the old one.
  const change = changeOf(request, user, tx => requireCredential(tx, credential))
  const secret = await startSession(database, user.id, start, change)
  writeCookie(c, registry, 'session', secret, seconds)
  writeCookie(c, registry, 'user', user.login, seconds)
  writeCookie(c, registry, 'device', makeDevice(credential), DEVICE_SECONDS)
  if (readCookie(c, registry, 'form') !== undefined) dropCookie(c, registry, 'form')
}

function showLogin(
  c: Context,
  site: SiteConfig,
  { csrf }: BrowserRequest,
  { status, ...fields }: Outcome<LoginData>,
): Response {
  const data = { csrf, login: '', next: null, notice: null, reset: null, ...fields }
  return page(c, site, loginPage(site, data), status)
}

/** Reloads the page, now with cookies, so that a logged-in user gets the page of their session. */
function reloadPage(c: Context, site: SiteConfig): Response {
  const here = `${basePath(site)}${c.req.path}${new URL(c.req.url).search}`
  const text = html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${here}"><title>${site.title}</title></head><body><a href="${here}">Continue</a></body></html>`
  return page(c, site, String(text))
}

/** Product names in `User-Agent`. A browser comes before others whose names it also sends. */
const BROWSERS = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['Firefox', 'Firefox'],
  ['Chrome', 'Chrome'],
  ['Version', 'Safari'],
] as const

const ENGINES = new Set('Mozilla AppleWebKit KHTML Gecko Safari Mobile'.split(' '))

/** Returns the common names of browser and system in a `User-Agent`, or else its first own word. */
export function browserName(agent: string): string {
  const system = /\b(Windows|Android|iPhone|iPad|Mac OS X|CrOS|Linux)\b/.exec(agent)?.[1]
  for (const [token, name] of BROWSERS) {
    const version = new RegExp(`\\b${token}/([0-9]+)`).exec(agent)?.[1]
    if (version) return `${name} ${version}${system ? ` on ${system}` : ''}`
  }
  for (const [, word = ''] of agent.matchAll(/(?:^| )([a-z][\w.-]{0,30})(?=\/|$)/gi))
    if (!ENGINES.has(word)) return word
  return 'unknown browser'
}
