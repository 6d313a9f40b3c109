import { refuse } from '../../generator/index.ts'
import { goOn, siteOf } from '../http/page.ts'
import type { SessionHandler } from '../access/route.ts'
import { rowId } from '../http/row-id.ts'
import { endSession, endSessions } from '../accounts/sessions.ts'
import { changeOf } from '../access/visit.ts'
import type { MeDeps } from './deps.ts'
import { tell } from './notice.ts'

/** `POST /me/sessions/{id}/end`: of one's own sessions. */
export function postSessionEnd({ registry }: MeDeps): SessionHandler {
  return async (c, visit) => {
    const { user } = visit.session
    const id = rowId(c.req.param('id')) ?? refuse('session_unknown')
    const session = { id, userId: user.id }
    await endSession(registry.database, session, changeOf(visit, user), 'session-end')
    return goOn(c, siteOf(registry), tell('/me', 'session-ended'))
  }
}

/** `POST /me/sessions/end`: every session of one's own but this one. */
export function postOtherSessionsEnd({ registry }: MeDeps): SessionHandler {
  return async (c, visit) => {
    const { id, user } = visit.session
    await endSessions(registry.database, user, changeOf(visit, user), id)
    return goOn(c, siteOf(registry), tell('/me', 'sessions-ended'))
  }
}
