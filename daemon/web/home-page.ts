import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { timestamp } from '../../generator/index.ts'
import type { Notice } from '../../site/account/frame.ts'
import { type HomeData, homePage } from '../../site/account/home-page.ts'
import type { SessionRequest } from '../access/browser-request.ts'
import { listInvitations } from '../accounts/invitations.ts'
import { countCratesOf, cratesOf } from '../accounts/ownership.ts'
import { listSessions } from '../accounts/sessions.ts'
import { listTokens, type TokenRecord } from '../accounts/tokens.ts'
import type { Deps } from '../deps.ts'
import { page } from '../http/page.ts'
import { listPage } from '../http/paging.ts'
import { viewerOf } from './notice.ts'

/** What a form adds to the page. */
interface Outcome {
  readonly notice: Notice | null
  readonly newToken?: string
  readonly draft?: HomeData['draft']
  readonly status?: ContentfulStatusCode
}

/** The page of somebody who is logged in. */
export async function showHome(
  deps: Deps,
  c: Context,
  request: SessionRequest,
  outcome: Outcome,
): Promise<Response> {
  const { database, settings } = deps.registry
  const { session, now } = request
  const { id } = session.user
  const site = deps.registry.site
  const slice = listPage(c, await countCratesOf(database, id))
  const [tokens, crates, invitations, sessions] = await Promise.all([
    listTokens(database, id),
    cratesOf(database, id, slice),
    listInvitations(database, { userId: id }, { now, seconds: settings.owners.invitation_seconds }),
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
