import type { Context } from 'hono'
import type { Settings } from '../../core/settings/settings.ts'
import { timestamp } from '../../core/timestamp.ts'
import { storedPassword } from '../../generator/accounts/accounts.ts'
import { listIdentities } from '../../generator/accounts/oidc-identities.ts'
import { listInvitations } from '../../generator/accounts/ownership.ts'
import { listSessions } from '../../generator/accounts/sessions.ts'
import { listTokens } from '../../generator/accounts/tokens.ts'
import type { Database } from '../../generator/database/connection.ts'
import { groupsOf, loginEnd } from '../../generator/records/groups.ts'
import { cratesShown } from '../../generator/records/owners.ts'
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
  const [tokens, { crates, slice }, invitations, sessions, issuers, groups, password] =
    await Promise.all([
      listTokens(database, id),
      cratesShown(database, id, timestamp(now), total => listPage(c, total)),
      listInvitations(
        database,
        { userId: id },
        { now, seconds: settings.owners.invitation_seconds },
      ),
      listSessions(database, id, { now, rules: settings }),
      issuerRows(database, settings.oidc, id),
      groupsOf(database, id, timestamp(now)),
      storedPassword(database, session.user.login),
    ])
  const data: HomeData = {
    viewer: viewerOf(request),
    now,
    notice: null,
    newToken: null,
    draft: null,
    tokens,
    crates,
    cratesPosition: slice,
    invitations,
    sessions: sessions.map(record => ({ ...record, current: record.id === session.id })),
    password: settings.auth.passwords === 'on' && password !== null,
    issuers,
    groups: [...groups.values()].flat(),
    ...outcome,
  }
  return page(c, site, homePage(site, data), status)
}

async function issuerRows(
  database: Database,
  oidc: Settings['oidc'],
  userId: number,
): Promise<HomeData['issuers']> {
  const own = await listIdentities(database, [userId])
  return Object.values(oidc).map(({ name, title, issuer, token_days: days }) => {
    const loggedIn = own.find(each => each.issuer === issuer)?.logged_in ?? null
    const until = loggedIn === null || days === 0 ? null : loginEnd(days, new Date(loggedIn))
    return { name, title: title || name, loggedIn, until }
  })
}
