import type { Context } from 'hono'
import { timestamp } from '../../core/timestamp.ts'
import { listInvitations } from '../../generator/accounts/ownership.ts'
import { listSessions } from '../../generator/accounts/sessions.ts'
import { listTokens, type TokenRecord } from '../../generator/accounts/tokens.ts'
import { countCratesOf, cratesOf } from '../../generator/records/owners.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { type HomeData, homePage } from '../../site/account/home-page.ts'
import type { SessionRequest } from '../access/route.ts'
import { page } from '../http/page.ts'
import { listPage } from '../http/paging.ts'
import { type Outcome, viewerOf } from './notice.ts'

/** Shows the account page of a logged-in user, with the outcome of a form if there is one. */
export async function showHome(
  { database, settings, site }: Registry,
  c: Context,
  request: SessionRequest,
  { status, ...outcome }: Outcome<HomeData>,
): Promise<Response> {
  const { session, now } = request
  const { id } = session.user
  const slice = listPage(c, await countCratesOf(database, id))
  const [tokens, crates, invitations, sessions] = await Promise.all([
    listTokens(database, id),
    cratesOf(database, id, slice),
    listInvitations(database, { userId: id }, { now, seconds: settings.owners.invitation_seconds }),
    listSessions(database, id, { now, idleSeconds: settings.auth.session_idle_seconds }),
  ])
  const data: HomeData = {
    viewer: viewerOf(request),
    now,
    notice: null,
    newToken: null,
    draft: null,
    tokens: tokens.map(token => tokenRow(token, timestamp(now))),
    crates: crates.map(crate => crate.name),
    cratesPosition: slice,
    invitations,
    sessions: sessions.map(record => ({ ...record, current: record.id === session.id })),
    ...outcome,
  }
  return page(c, site, homePage(site, data), status)
}

function tokenRow(token: TokenRecord, now: string): HomeData['tokens'][number] {
  return {
    ...token,
    scopes: token.scopes ?? [],
    crates: token.crates ?? [],
    lastUsed: token.last_used,
    expired: token.expires !== null && token.expires <= now,
  }
}
