import { refuse } from '../../core/error/error.ts'
import { isName } from '../../core/name.ts'
import { dateText } from '../../core/quantity.ts'
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
import { rowId } from '../http/paging.ts'
import { showHome } from './home-page.ts'
import { type Action, attempt, type Task } from './notice.ts'

/** `POST /me/tokens`: creates a token and shows it on the answered page, the only time. */
export function postToken({ registry, c, request }: Task) {
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

/** `/me/tokens/{id}/revoke`: revokes a token of the user. */
export const revocation: Action = {
  async ask({ registry, c, request }) {
    const id = c.req.param('id') ?? ''
    const tokens = await listTokens(registry.database, request.session.user.id)
    const { name } = tokens.find(token => token.id === rowId(id)) ?? refuse('token_unknown', { id })
    return { about: 'revoke', names: [name] }
  },
  async act({ registry, c, request }) {
    const id = c.req.param('id') ?? ''
    const token = rowId(id) ?? refuse('token_unknown', { id })
    const { name } = await revokeToken(registry.database, token, request.change)
    return ['/me', 'token-revoked', name]
  },
}

/** `/me/sessions/{id}/end`: ends a session of the user. */
export const sessionEnd: Action = {
  async ask({ registry: { database, settings }, c, request: { session, now } }) {
    const sessions = await listSessions(database, session.user.id, { now, rules: settings })
    const id = rowId(c.req.param('id'))
    const { agent, created } =
      sessions.find(session => session.id === id) ?? refuse('session_unknown')
    // Sessions of one browser have one name.
    const since = `${dateText(created)}, ${created.slice(11, 16)} UTC`
    return { about: 'end-session', names: [agent, since] }
  },
  async act({ registry, c, request }) {
    const id = rowId(c.req.param('id')) ?? refuse('session_unknown')
    const session = { id, user: request.session.user }
    const agent = await endSession(registry.database, session, request.change, 'session-end')
    return ['/me', 'session-ended', agent]
  },
}

/** `/me/sessions/end`: ends all other sessions of the user. */
export const otherSessionsEnd: Action = {
  ask: ({ request }) => ({ about: 'end-sessions', names: [request.session.user.login] }),
  async act({ registry, request }) {
    const { id, user } = request.session
    await endSessions(registry.database, user, request.change, id)
    return ['/me', 'sessions-ended', user.login]
  },
}

/** `/me/invitations/{name}/decline`; `POST` alone to `…/accept`, which takes nothing away. */
export const invitationAnswer = (isAccepted: boolean): Action => ({
  async ask({ registry, c }) {
    const { name } = await crateOf(registry, c, findCrate)
    return { about: 'decline', names: [name] }
  },
  async act({ registry, indexWorker, c, request }) {
    const { database, settings } = registry
    const name = c.req.param('name') ?? ''
    const crate = isName(name) ? await findCrate(database, name) : null
    if (!crate) return refuse('invitation_unknown', { name })
    const { user } = request.session
    const time = { now: request.now, seconds: settings.owners.invitation_seconds }
    await answerInvitation(registry, crate, user, isAccepted, request.change, time)
    if (isAccepted) indexWorker.pages.wake()
    return ['/me', isAccepted ? 'invitation-accepted' : 'invitation-declined', crate.name]
  },
})
