import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { timestamp } from '../../generator/index.ts'
import { type HomeData, homePage } from '../../site/account/home-page.ts'
import type { Notice } from '../../site/account/viewer.ts'
import type { SessionRequest } from '../access/browser-request.ts'
import type { BrowserHandler } from '../access/route.ts'
import { listInvitations } from '../accounts/invitations.ts'
import { countCratesOf, cratesOf } from '../accounts/ownership.ts'
import { listSessions } from '../accounts/sessions.ts'
import { listTokens, type TokenRecord } from '../accounts/tokens.ts'
import { ownPath } from '../http/own-path.ts'
import { goOn, page } from '../http/page.ts'
import type { MeDeps } from './deps.ts'
import { isFromElsewhere, loginForm, onceMore } from './login.ts'
import { told, viewerOf } from './notice.ts'
import { sliceOf } from './slice.ts'

/** `GET /me`: the page that `cargo login` points to. Who is not logged in is shown how to, and how one gets a token. */
export function home(deps: MeDeps): BrowserHandler {
  const site = deps.registry.site
  return (c, request) => {
    const next = ownPath(c.req.query('next'))
    const { session } = request
    if (!session)
      return isFromElsewhere(c) ? onceMore(c, site) : loginForm(c, site, request, { next })
    if (next !== null) return goOn(c, site, next)
    if (c.req.path !== '/me') return goOn(c, site, '/me')
    return showHome(deps, c, { ...request, session }, { notice: told(c) })
  }
}

/** What a form adds to the page. */
interface Outcome {
  readonly notice: Notice | null
  readonly newToken?: string
  readonly draft?: HomeData['draft']
  readonly status?: ContentfulStatusCode
}

/** The page of somebody who is logged in. */
export async function showHome(
  deps: MeDeps,
  c: Context,
  request: SessionRequest,
  outcome: Outcome,
): Promise<Response> {
  const { database, settings } = deps.registry
  const { session, now } = request
  const { id } = session.user
  const site = deps.registry.site
  const slice = sliceOf(c, await countCratesOf(database, id))
  const [tokens, crates, invitations, sessions] = await Promise.all([
    listTokens(database, id),
    cratesOf(database, id, slice),
    listInvitations(database, id, { now, seconds: settings.owners.invitation_seconds }),
    listSessions(database, id, { now, idleSeconds: settings.auth.session_idle_seconds }),
  ])
  const facts: HomeData = {
    viewer: viewerOf(request),
    notice: outcome.notice,
    newToken: outcome.newToken ?? null,
    draft: outcome.draft ?? null,
    tokens: tokens.map(token => tokenRow(token, timestamp(now))),
    crates,
    cratesPosition: slice,
    invitations: invitations.map(one => ({ ...one, by: one.by ?? 'the operator' })),
    sessions: sessions.map(one => ({ ...one, current: one.id === session.id })),
    password: true,
  }
  return page(c, site, homePage(site, facts), outcome.status)
}

function tokenRow(token: TokenRecord, now: string): HomeData['tokens'][number] {
  const { id, name, scopes, crates, created, expires } = token
  return {
    id,
    name,
    scopes: scopes ?? [],
    crates: crates ?? [],
    created,
    expires,
    lastUsed: token.last_used,
    expired: expires !== null && expires <= now,
  }
}
