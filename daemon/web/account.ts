import type { Context } from 'hono'
import { refuse } from '../../core/error/error.ts'
import { isName } from '../../core/name.ts'
import { after, timestamp } from '../../core/timestamp.ts'
import { answerInvitation } from '../../generator/accounts/ownership.ts'
import { endSession, endSessions, listSessions } from '../../generator/accounts/sessions.ts'
import {
  createToken,
  listTokens,
  type NewToken,
  parseScopes,
  revokeToken,
} from '../../generator/accounts/tokens.ts'
import { findCrate } from '../../generator/records/crates.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { crateOf, type SessionRequest } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { rowId } from '../http/paging.ts'
import { showHome } from './home-page.ts'
import { ask, attempt, redirectDone } from './notice.ts'

/** `POST /me/tokens`: creates a token and shows it on the answered page, the only time. */
export function postToken({ registry }: Deps, c: Context, request: SessionRequest) {
  const draft = draftOf(request)
  const work = async () => {
    const newToken = await create(registry, request, draft)
    return showHome(registry, c, request, { newToken })
  }
  return attempt(c, work, refused => showHome(registry, c, request, { draft, ...refused }))
}

type Draft = ReturnType<typeof draftOf>

function draftOf({ form }: SessionRequest) {
  const field = (name: string) => form.get(name)?.trim() ?? ''
  return {
    name: field('name'),
    access: field('access'),
    scopes: form.getAll('scope'),
    crates: field('crates'),
    expires: field('expires'),
  }
}

function create(registry: Registry, request: SessionRequest, draft: Draft): Promise<NewToken> {
  if (draft.access !== 'full' && draft.scopes.length === 0) refuse('token_access_absent')
  const crates = draft.crates.split(/[\s,]+/).filter(pattern => pattern !== '')
  const order = {
    userId: request.session.user.id,
    name: draft.name,
    scopes: draft.access === 'full' ? null : parseScopes(draft.scopes),
    crates: crates.length > 0 ? crates : null,
    expires: draft.expires === '' ? null : timestamp(after(request.now, draft.expires)),
    most: registry.settings.limits.tokens_per_user,
  }
  return createToken(registry.database, order, request.change)
}

/** `GET /me/tokens/{id}/revoke`. */
export async function askRevocation({ registry }: Deps, c: Context, request: SessionRequest) {
  const id = c.req.param('id') ?? ''
  const tokens = await listTokens(registry.database, request.session.user.id)
  const { name } = tokens.find(token => token.id === rowId(id)) ?? refuse('token_unknown', { id })
  return ask(c, registry, request, 'revoke', [name])
}

/** `POST /me/tokens/{id}/revoke`: revokes a token of the user. */
export async function postRevocation({ registry }: Deps, c: Context, request: SessionRequest) {
  const id = c.req.param('id') ?? ''
  const token = rowId(id) ?? refuse('token_unknown', { id })
  const { name } = await revokeToken(registry.database, token, request.change)
  return redirectDone(c, registry, '/me', 'token-revoked', name)
}

/** `GET /me/sessions/{id}/end`. */
export async function askSessionEnd({ registry }: Deps, c: Context, request: SessionRequest) {
  const { database, settings } = registry
  const time = { now: request.now, rules: settings }
  const sessions = await listSessions(database, request.session.user.id, time)
  const id = rowId(c.req.param('id'))
  const { agent } = sessions.find(session => session.id === id) ?? refuse('session_unknown')
  return ask(c, registry, request, 'end-session', [agent])
}

/** `POST /me/sessions/{id}/end`: ends a session of the user. */
export async function postSessionEnd({ registry }: Deps, c: Context, request: SessionRequest) {
  const id = rowId(c.req.param('id')) ?? refuse('session_unknown')
  const session = { id, user: request.session.user }
  const agent = await endSession(registry.database, session, request.change, 'session-end')
  return redirectDone(c, registry, '/me', 'session-ended', agent)
}

/** `GET /me/sessions/end`. */
export function askOtherSessionsEnd({ registry }: Deps, c: Context, request: SessionRequest) {
  return ask(c, registry, request, 'end-sessions', [request.session.user.login])
}

/** `POST /me/sessions/end`: ends all other sessions of the user. */
export async function postOtherSessionsEnd(
  { registry }: Deps,
  c: Context,
  request: SessionRequest,
) {
  const { id, user } = request.session
  await endSessions(registry.database, user, request.change, id)
  return redirectDone(c, registry, '/me', 'sessions-ended', user.login)
}

/** `GET /me/invitations/{name}/decline`. */
export async function askDecline({ registry }: Deps, c: Context, request: SessionRequest) {
  const { name } = await crateOf(registry, c, findCrate)
  return ask(c, registry, request, 'decline', [name])
}

/** `POST /me/invitations/{name}/accept` and `…/decline`. */
export function postInvitation(isAccepted: boolean) {
  return async ({ registry, indexWorker }: Deps, c: Context, request: SessionRequest) => {
    const { database, settings } = registry
    const name = c.req.param('name') ?? ''
    const crate = isName(name) ? await findCrate(database, name) : null
    if (!crate) return refuse('invitation_unknown', { name })
    const { user } = request.session
    const time = { now: request.now, seconds: settings.owners.invitation_seconds }
    await answerInvitation(registry, crate, user, isAccepted, request.change, time)
    if (isAccepted) indexWorker.pages.wake()
    const done = isAccepted ? 'invitation-accepted' : 'invitation-declined'
    return redirectDone(c, registry, '/me', done, crate.name)
  }
}
