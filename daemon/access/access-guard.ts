// daemon/access: Who is asking, and whether they may, and how often. app.ts calls it for each
// route; it never answers one.
import type { Context } from 'hono'
import type { Logger } from 'pino'
import { Refusal, refuse } from '../../core/error/error.ts'
import { configPath } from '../../core/paths/tree.ts'
import type { AccessTime } from '../../generator/accounts/accounts.ts'
import { knownDevice } from '../../generator/accounts/credentials.ts'
import { type LoginPriority, TOP_PRIORITY } from '../../generator/accounts/password.ts'
import {
  formProof,
  isSameText,
  makeSecret,
  type RecordUse,
  recordUses,
} from '../../generator/accounts/secret.ts'
import { findSession, requireSession, type Session } from '../../generator/accounts/sessions.ts'
import {
  authenticate,
  isToken,
  type Rejection,
  type TokenHolder,
} from '../../generator/accounts/tokens.ts'
import type { Change, StillMay } from '../../generator/records/change.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { authenticateTrusted, type TrustedHolder } from '../../generator/trust/trusted-tokens.ts'
import { addressOf, type ClientAddress } from '../http/client-address.ts'
import { dropCookie, readCookie, writeCookie } from '../http/cookies.ts'
import { recordSubject } from '../http/log.ts'
import { redirect, refusedPage, wantsPage } from '../http/page.ts'
import { isFromHere, isLinked, loginOf, readForm } from '../http/request-body.ts'
import { waitingStreams } from '../http/waiting-streams.ts'
import { type Actor, challenge, countedAs, hasScope, nameOf, passwordOf, tokenOf } from './auth.ts'
import { byAddress, RateLimits } from './rate-limits.ts'
import {
  type ActorRoute,
  type BrowserRequest,
  type BrowserRoute,
  changeOf,
  type OpenRoute,
  type Route,
  readingOf,
  strangerChange,
} from './route.ts'

/** API answers in one tick: each may take milliseconds, for which all other requests wait. */
const READS_AT_ONCE = 2

/** Checks the caller, the rate limits and the origin of a posted form before every handler. */
export class AccessGuard {
  readonly #registry: Registry
  readonly #log: Pick<Logger, 'warn'>
  readonly #recordUse: RecordUse
  readonly #limits: RateLimits
  readonly #addressOf: ClientAddress
  readonly #wait = waitingStreams(READS_AT_ONCE)
  readonly #me: string

  constructor(registry: Registry, log: Pick<Logger, 'warn'>) {
    this.#registry = registry
    this.#log = log
    this.#recordUse = recordUses(error =>
      log.warn({ err: error }, 'cannot record when a token or a login was last used; skipped'),
    )
    const { settings, isShared, database } = registry
    this.#limits = new RateLimits(settings.limits, isShared ? database : null)
    this.#addressOf = addressOf(registry.settings.server)
    this.#me = `${registry.urls.base}/me`
  }

  async enter(route: Route, c: Context): Promise<Response> {
    const { counts } = route
    const isRead = counts === 'search' || counts === 'read'
    if (isRead || counts === 'exchange')
      await this.#limits.count(counts, byAddress(this.#addressOf(c)), this.#registry.clock())
    if (isRead) await new Promise<void>(resolve => this.#wait({ destroyed: false }, resolve))
    switch (route.access) {
      case 'open':
        return route.handle(c)
      case 'reader':
        if (!this.#registry.settings.auth.required) return route.handle(c)
        return keptPrivate(await this.#enterAsReader(route, c))
      case 'member':
        if ((await this.#identify(c)).who !== 'user') refuse('trusted_token_only')
        return keptPrivate(await route.handle(c))
      case 'visitor':
      case 'session':
      case 'admin':
        return this.#enterAsVisitor(route, c)
      default:
        return this.#enterAsActor(route, c)
    }
  }

  /** Private registry: requires a token with the scope `read`, or for GET a logged-in browser. */
  async #enterAsReader({ path: route, handle }: OpenRoute, c: Context): Promise<Response> {
    const { path, method } = c.req
    const header = c.req.header('authorization')
    const token = passwordOf(header) ?? tokenOf(header)
    if (!token) {
      if ((method === 'GET' || method === 'HEAD') && (await this.#session(c))) return handle(c)
      return wantsPage(c)
        ? this.#askToLogIn(c)
        : challenge(c, this.#registry, { code: 'token_absent', at: '' })
    }
    const actor = await this.#authenticate(token)
    if ('code' in actor) {
      // Cargo repeats index requests and downloads after a 401; the API answers 403 (section 7).
      if (route.startsWith('/api/') && !route.endsWith('/download'))
        refuse(actor.code, { me: this.#me, at: actor.at })
      return challenge(c, this.#registry, actor)
    }
    // Cargo starts every call with config.json, even when its token is only valid for publishing.
    if (!hasScope(actor, 'read') && path !== `/${configPath}`)
      refuse('scope_missing', { scope: 'read' })
    return handle(c)
  }

  async #enterAsActor(route: ActorRoute, c: Context): Promise<Response> {
    const actor = (await this.#inBrowser(route, c)) ?? (await this.#identify(c))
    const { access, counts, handle } = route
    // A publish needs one of its scopes, which only its metadata tells.
    if (counts !== 'publish' && !access.some(scope => hasScope(actor, scope)))
      refuse('scope_missing', { scope: access.join('` or `') })
    if (this.#registry.urls.api === null) refuse('api_off')
    if (counts === 'publish' || counts === 'change')
      await this.#limits.count(counts, countedAs(actor), this.#registry.clock())
    if (counts !== 'publish') return handle(c, actor)
    let isRefused = true
    try {
      const answer = await handle(c, actor)
      isRefused = false
      return answer
    } finally {
      await this.#countReading(c, actor, isRefused)
    }
  }

  /**
   * Rules of CI are also for a logged-in browser without a token, as on crates.io. Pages of other
   * sites cannot ask for them: the cookie is `Strict`, and a change has to come from this origin.
   */
  async #inBrowser({ access, method }: ActorRoute, c: Context): Promise<Actor | null> {
    const isForBrowsers = access.includes('trusted-publishing')
    if (!isForBrowsers || c.req.header('authorization') !== undefined) return null
    const session = await this.#session(c)
    if (!session) return null
    if (method !== 'GET' && !isFromHere(c, this.#registry.urls.base)) refuse('form_rejected')
    recordSubject(c, { user: session.user.login })
    const sender = { address: this.#addressOf(c), now: this.#registry.clock() }
    const change = this.#changeIn(session, sender)
    return { who: 'user', user: session.user, tokenId: null, scopes: access, crates: null, change }
  }

  /** Counts the processor time of reading a publish; logs users whom it slows down. */
  async #countReading(c: Context, actor: Actor, isRefused: boolean): Promise<void> {
    const milliseconds = readingOf(c)
    const now = this.#registry.clock()
    const wait = await this.#limits.ofReading(countedAs(actor), milliseconds, isRefused, now)
    if (wait === 0) return
    const seconds = Math.round(milliseconds / 100) / 10
    this.#log.warn(
      { user: nameOf(actor), address: actor.address, seconds, wait },
      'this user may not publish for a while: reading what they publish takes too much time',
    )
  }

  /** A browser route: refusals are shown on a page, because a person reads them. */
  async #enterAsVisitor(route: BrowserRoute, c: Context): Promise<Response> {
    const isPost = c.req.method === 'POST'
    let login: string | null = null
    try {
      const made = await this.#browserRequest(c)
      const { session } = made
      login = session?.user.login ?? null
      const priority = await this.#count(route.counts, c, made)
      if (route.access === 'visitor') return await route.handle(c, { ...made, priority })
      if (!session) return isPost ? refuse('session_absent') : this.#askToLogIn(c)
      if (route.access === 'admin' && !session.user.admin) refuse('admin_only')
      return await route.handle(c, { ...made, priority, session })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const shown = error.has('session_absent') ? null : login
      return refusedPage(c, this.#registry.site, error, shown)
    }
  }

  /** Reads the form and the session; refuses a form that was not created for this browser. */
  async #browserRequest(c: Context): Promise<Omit<BrowserRequest, 'priority'>> {
    // First the form: it may take minutes to arrive, and the session may end meanwhile.
    const form = c.req.method === 'POST' ? await readForm(c) : null
    const session = await this.#session(c)
    if (session) recordSubject(c, { user: session.user.login })
    this.#showUser(c, session)
    const cookie = readCookie(c, this.#registry, 'form')
    const secret = cookie ?? makeSecret()
    const csrf = session?.proof ?? formProof(secret)
    const sender = { address: this.#addressOf(c), now: this.#registry.clock() }
    const change = session ? this.#changeIn(session, sender) : strangerChange(sender)
    const rest = { session, csrf, change, ...sender }
    if (form === null) {
      // A browser that another site leads here has one that it does not send.
      if (!session && cookie === undefined && !isLinked(c))
        writeCookie(c, this.#registry, 'form', secret)
      return { ...rest, form: new URLSearchParams() }
    }
    const isOurs =
      isFromHere(c, this.#registry.urls.base) && isSameText(form.get('csrf') ?? '', csrf)
    if (!isOurs) refuse('form_rejected')
    return { ...rest, form }
  }

  /** Returns a change in a session, which must still be good when the change is made. */
  #changeIn({ id, user }: Session, sender: Pick<BrowserRequest, 'address' | 'now'>): Change {
    const stillMay: StillMay = tx => requireSession(tx, id, this.#time())
    return { ...changeOf(sender, user, stillMay), sessionId: id }
  }

  /** Makes the cookie that pages of the tree show agree with the session. */
  #showUser(c: Context, session: Session | null): void {
    const shown = readCookie(c, this.#registry, 'user')
    if (session === null && shown !== undefined) dropCookie(c, this.#registry, 'user')
    if (session === null || shown === session.user.login) return
    const { session_seconds } = this.#registry.settings.auth
    writeCookie(c, this.#registry, 'user', session.user.login, session_seconds)
  }

  async #count(
    counts: Route['counts'],
    c: Context,
    { session, address, form, now }: Omit<BrowserRequest, 'priority'>,
  ): Promise<LoginPriority> {
    if (counts === 'login') {
      const login = loginOf(form)
      const cookie = readCookie(c, this.#registry, 'device')
      const device =
        cookie === undefined ? null : await knownDevice(this.#registry.database, login, cookie)
      return this.#limits.ofLogin(login, device, address, now)
    }
    const who = session ? `session ${session.id}` : byAddress(address)
    if (counts === 'password')
      return { isKnown: session !== null, recent: await this.#limits.count(counts, who, now) }
    if (counts === 'issuer') await this.#limits.count(counts, byAddress(address), now)
    if (counts === 'change' && session)
      await this.#limits.count(counts, `user ${session.user.id}`, now)
    return TOP_PRIORITY
  }

  async #session(c: Context): Promise<Session | null> {
    const secret = readCookie(c, this.#registry, 'session')
    if (!secret) return null
    return findSession(this.#registry.database, secret, this.#time(), this.#recordUse)
  }

  #time(): AccessTime {
    return { now: this.#registry.clock(), rules: this.#registry.settings }
  }

  async #identify(c: Context): Promise<Actor> {
    const token = tokenOf(c.req.header('authorization'))
    if (!token) return refuse('token_absent', { me: this.#me })
    const actor = await this.#authenticate(token)
    if ('code' in actor) return refuse(actor.code, { me: this.#me, at: actor.at })
    recordSubject(c, { user: nameOf(actor) })
    return { ...actor, address: this.#addressOf(c) }
  }

  #authenticate(token: string): Promise<TokenHolder | TrustedHolder | Rejection> {
    const { database, clock } = this.#registry
    if (isToken(token, 'plim_tp_')) return authenticateTrusted(database, token, clock())
    return authenticate(database, token, this.#time(), this.#recordUse)
  }

  #askToLogIn(c: Context): Response {
    const path = `${c.req.path}${new URL(c.req.url).search}`
    return redirect(c, this.#registry.site, `/me?next=${encodeURIComponent(path)}`)
  }
}

/** Forbids caches between to keep an answer that not everybody may have (RFC 9111 §5.2.2.7). */
function keptPrivate(response: Response): Response {
  const rule = response.headers.get('cache-control') ?? 'no-cache'
  if (!/no-store|private/.test(rule))
    response.headers.set('cache-control', `private, ${rule.replace('public, ', '')}`)
  return response
}
