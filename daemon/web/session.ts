import type { Context } from 'hono'
import type { Account } from '../../generator/accounts/accounts.ts'
import { type SessionWay, startSession } from '../../generator/accounts/sessions.ts'
import type { StillMay } from '../../generator/records/change.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { type LoginData, loginPage } from '../../site/account/login-page.ts'
import { type BrowserRequest, changeOf } from '../access/route.ts'
import { dropCookie, readCookie, writeCookie } from '../http/cookies.ts'
import { recordSubject } from '../http/log.ts'
import { page } from '../http/page.ts'
import type { Outcome } from './notice.ts'

/** Logs a user in with a new session and ends the browser's previous one. */
export async function logIn(
  registry: Registry,
  c: Context,
  request: BrowserRequest,
  user: Account,
  way: SessionWay,
  stillMay: StillMay,
): Promise<void> {
  const { database, settings } = registry
  const seconds = settings.auth.session_seconds
  recordSubject(c, { user: user.login })
  const agent = browserName(c.req.header('user-agent') ?? '')
  const start = { agent, now: request.now, seconds, way, before: request.session?.id }
  const change = changeOf(request, user, stillMay)
  const secret = await startSession(database, user.id, start, change)
  writeCookie(c, registry, 'session', secret, seconds)
  writeCookie(c, registry, 'user', user.login, seconds)
  for (const name of ['form', 'visit'] as const)
    if (readCookie(c, registry, name) !== undefined) dropCookie(c, registry, name)
}

/** Shows the page where people log in, or set a password. */
export function showLogin(
  { settings, site }: Registry,
  c: Context,
  { csrf }: Pick<BrowserRequest, 'csrf'>,
  { status, ...fields }: Outcome<LoginData>,
): Response {
  const issuers = Object.values(settings.oidc).map(({ name, title }) => ({
    name,
    title: title || name,
  }))
  const passwords = settings.auth.passwords === 'on'
  const data = { csrf, login: '', next: null, notice: null, reset: null, issuers, passwords }
  return page(c, site, loginPage(site, { ...data, ...fields }), status)
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
