import { refuse } from '../../generator/index.ts'
import { changeOf } from '../access/browser-request.ts'
import type { SessionHandler } from '../access/route.ts'
import { endSession, endSessions } from '../accounts/sessions.ts'
import type { Deps } from '../deps.ts'
import { redirect } from '../http/page.ts'
import { rowId } from '../http/parameters.ts'
import { withNotice } from './notice.ts'

/** `POST /me/sessions/{id}/end`: of one's own sessions. */
export function postSessionEnd({ registry }: Deps): SessionHandler {
  return async (c, request) => {
    const { user } = request.session
    const id = rowId(c.req.param('id')) ?? refuse('session_unknown')
    const session = { id, userId: user.id }
    await endSession(registry.database, session, changeOf(request, user), 'session-end')
    return redirect(c, registry.site, withNotice('/me', 'session-ended'))
  }
}

/** `POST /me/sessions/end`: every session of one's own but this one. */
export function postOtherSessionsEnd({ registry }: Deps): SessionHandler {
  return async (c, request) => {
    const { id, user } = request.session
    await endSessions(registry.database, user, changeOf(request, user), id)
    return redirect(c, registry.site, withNotice('/me', 'sessions-ended'))
  }
}
