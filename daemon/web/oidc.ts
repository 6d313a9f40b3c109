import type { Context } from 'hono'
import * as v from 'valibot'
import { refuse } from '../../core/error/error.ts'
import { jsonIn } from '../../core/plain-data.ts'
import type { OidcClient } from '../../generator/accounts/oidc/client.ts'
import { requireIdentity } from '../../generator/accounts/oidc-identities.ts'
import { linkLogin, recordLogin } from '../../generator/registry/changes/oidc-login.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { type BrowserRequest, strangerChange } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { dropCookie, readCookie, writeCookie } from '../http/cookies.ts'
import { leave, redirect, reloadPage } from '../http/page.ts'
import { isLinked, ownPath } from '../http/request-body.ts'
import { attempt, redirectDone } from './notice.ts'
import { logIn, showLogin } from './session.ts'

/** How long somebody may take to log in at the issuer. */
const PENDING_SECONDS = 600

/** What the browser keeps of a login that it has begun. */
const pendingLogin = v.object({
  issuer: v.string(),
  state: v.string(),
  nonce: v.string(),
  verifier: v.string(),
  /** Where to go afterwards. */
  next: v.nullable(v.string()),
  /** The session whose account is to be linked; null to log in. */
  link: v.nullable(v.number()),
})
type PendingLogin = v.InferOutput<typeof pendingLogin>

function clientOf({ logins }: Deps, c: Context): OidcClient {
  return logins.get(c.req.param('issuer') ?? '') ?? refuse('route_unknown')
}

/** `GET /me/oidc/{issuer}?next=…`: sends the browser to the issuer; with `link`, to link to it. */
export function oidcStart(deps: Deps, c: Context, request: BrowserRequest) {
  const { registry } = deps
  const { site } = registry
  const client = clientOf(deps, c)
  const next = ownPath(c.req.query('next'))
  const isLink = c.req.query('link') !== undefined
  const link = isLink ? (request.session?.id ?? null) : null
  // Other sites may not begin a login, and whose session has ended would get another account.
  if (isLinked(c) || (isLink && link === null)) return redirect(c, site, '/me')
  const work = async () => {
    const { url, pending } = await client.begin()
    const kept: PendingLogin = { issuer: client.settings.name, ...pending, next, link }
    const text = Buffer.from(JSON.stringify(kept)).toString('base64url')
    writeCookie(c, registry, 'oidc', text, PENDING_SECONDS)
    return leave(c, site, url)
  }
  return attempt(c, work, refused => showLogin(registry, c, request, { next, ...refused }))
}

/**
 * `GET /me/oidc/{issuer}/callback`: where the issuer sends the browser back. Browsers leave the
 * cookies out then, which are for this site alone, so the page first reloads itself.
 */
export function oidcCallback(deps: Deps, c: Context, request: BrowserRequest) {
  const { registry } = deps
  const client = clientOf(deps, c)
  const query = new URL(c.req.url).searchParams
  const kept = readPending(registry, c)
  if (isLinked(c) || (kept === null && !query.has('again')))
    return reloadPage(
      c,
      registry.site,
      query.has('again') ? '' : `${query.size > 0 ? '&' : '?'}again=1`,
    )
  query.delete('again')
  const work = async () => {
    // An answer that this browser has not asked for may be that of somebody else, or of a tab in
    // which a login was begun before: that which was begun last goes on.
    const isOurs = kept?.issuer === client.settings.name && query.get('state') === kept.state
    if (!kept || !isOurs) return refuse('oidc_lost')
    dropCookie(c, registry, 'oidc')
    const person = await client.finish(`?${query}`, kept)
    const { issuer, subject } = person
    if (person.groups === null)
      deps.log.warn(
        { issuer: issuer.name, subject },
        'the issuer has more groups of this user than it says; those of before are kept',
      )
    if (kept.link !== null) {
      if (request.session?.id !== kept.link) refuse('oidc_lost')
      await linkLogin(registry, person, request.session.user, request.change)
      const { login } = request.session.user
      return redirectDone(c, registry, '/me', 'identity-linked', login)
    }
    const user = await recordLogin(registry, person, strangerChange(request))
    const identity = { issuer: issuer.issuer, subject }
    await logIn(registry, c, request, user, 'oidc', tx => requireIdentity(tx, identity))
    return redirect(c, registry.site, ownPath(kept.next) ?? '/me')
  }
  return attempt(c, work, refused =>
    showLogin(registry, c, request, { next: ownPath(kept?.next), ...refused }),
  )
}

function readPending(registry: Registry, c: Context): PendingLogin | null {
  const text = Buffer.from(readCookie(c, registry, 'oidc') ?? '', 'base64url').toString()
  const read = v.safeParse(pendingLogin, jsonIn(text))
  return read.success ? read.output : null
}
