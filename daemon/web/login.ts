import type { Context } from 'hono'
import { html } from 'hono/html'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { addEvent, refuse, timestamp } from '../../generator/index.ts'
import { loginPage } from '../../site/account/login-page.ts'
import type { Notice } from '../../site/account/viewer.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import { browserName } from '../access/browser-name.ts'
import { type BrowserRequest, changeOf } from '../access/browser-request.ts'
import type { BrowserHandler, SessionHandler } from '../access/route.ts'
import { findUser } from '../accounts/accounts.ts'
import { checkPassword } from '../accounts/credentials.ts'
import { makeDevice } from '../accounts/device.ts'
import { endSession, startSession } from '../accounts/sessions.ts'
import { dropCookie, readCookie, writeCookie } from '../http/cookies.ts'
import { honestStatus } from '../http/failure.ts'
import { loginOf } from '../http/form.ts'
import { ownPath } from '../http/own-path.ts'
import { goOn, page } from '../http/page.ts'
import type { MeDeps } from './deps.ts'
import { failed } from './notice.ts'

/** The form with which one logs in. */
export function loginForm(
  c: Context,
  site: SiteConfig,
  { csrf }: BrowserRequest,
  facts: {
    login?: string
    next?: string | null
    notice?: Notice
    reset?: string
    status?: ContentfulStatusCode
  },
): Response {
  const { login = '', next = null, notice = null, reset = null } = facts
  return page(c, site, loginPage(site, { csrf, login, next, notice, reset }), facts.status)
}

/** `POST /me/login`. A login that fails tells neither who exists nor what was typed. */
export function postLogin(deps: MeDeps): BrowserHandler {
  const { registry } = deps
  const site = registry.site
  return async (c, request) => {
    const login = loginOf(request.form)
    const next = ownPath(request.form.get('next'))
    try {
      const password = request.form.get('password') ?? ''
      const { priority } = request
      const user = await checkPassword(
        registry.database,
        { login, password, priority },
        registry.settings.auth.password_cost,
      )
      if (!user) {
        await noteFailure(deps, request, login)
        return refuse('login_failed')
      }
      await letIn(deps, c, request, user)
      return goOn(c, site, next ?? '/me')
    } catch (error) {
      const { refusal, notice } = failed(c, error)
      return loginForm(c, site, request, { login, next, notice, status: honestStatus(refusal) })
    }
  }
}

/** `POST /me/logout`. */
export function postLogout({ registry }: MeDeps): SessionHandler {
  return async (c, request) => {
    const { id, user } = request.session
    await endSession(registry.database, { id, userId: user.id }, changeOf(request, user), 'logout')
    dropCookie(c, registry, 'session')
    return goOn(c, registry.site, '/me')
  }
}

/** As long as browsers keep any cookie (RFC 6265bis §5.5). */
const DEVICE_SECONDS = 400 * 86_400

/** Starts a session under a new id, whatever the browser had before, and ends the one it had. */
export async function letIn(
  { registry }: MeDeps,
  c: Context,
  request: BrowserRequest,
  user: { readonly id: number; readonly login: string; readonly admin: boolean },
): Promise<void> {
  const { database, settings } = registry
  const seconds = settings.auth.session_seconds
  const change = changeOf(request, user)
  const agent = browserName(c.req.header('user-agent') ?? '')
  const secret = await startSession(database, user.id, { agent, now: request.now, seconds }, change)
  writeCookie(c, registry, 'session', secret, seconds)
  const device = await makeDevice(database, user.id)
  if (device !== null) writeCookie(c, registry, 'device', device, DEVICE_SECONDS)
  if (readCookie(c, registry, 'form') !== undefined) dropCookie(c, registry, 'form')
  if (request.session)
    await database.deleteFrom('sessions').where('id', '=', request.session.id).execute()
}

/** Which account it was about is noted where there is one; other text may be a password in the wrong field. */
async function noteFailure(
  { registry }: MeDeps,
  request: BrowserRequest,
  login: string,
): Promise<void> {
  const user = await findUser(registry.database, login)
  const change = {
    at: timestamp(request.now),
    actor: 'unknown',
    user: null,
    tokenId: null,
    address: request.address,
  }
  const detail = user ? { login: user.login } : undefined
  await addEvent(registry.database, change, { action: 'login-failed', ...(detail && { detail }) })
}

/** Whether another site's link led here, with which browsers send no `SameSite=Strict` cookie. */
export function isFromElsewhere(c: Context): boolean {
  return ['cross-site', 'same-site'].includes(c.req.header('sec-fetch-site') ?? '')
}

/** Has the browser ask once more on its own account, so that somebody who is logged in is not asked to log in. */
export function onceMore(c: Context, site: SiteConfig): Response {
  const here = `${new URL(site.base).pathname.replace(/\/$/, '')}${c.req.path}${new URL(c.req.url).search}`
  const text = html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${here}"><title>${site.title}</title></head><body><a href="${here}">Go on</a></body></html>`
  return page(c, site, String(text))
}
