import { goOn, siteOf } from '../page.ts'
import type { SessionHandler } from '../route.ts'
import { endSession } from '../sessions.ts'
import { changeOf } from '../visit.ts'
import type { MeDeps } from './deps.ts'
import { tell } from './notice.ts'

/** `POST /me/sessions/{id}/end`: of one's own sessions. */
export function postSessionEnd({ registry }: MeDeps): SessionHandler {
  return async (c, visit) => {
    const { user } = visit.session
    const id = Number(c.req.param('id'))
    const session = { id: Number.isSafeInteger(id) ? id : 0, userId: user.id }
    await endSession(registry.database, session, changeOf(visit, user), 'session-end')
    return goOn(c, siteOf(registry), tell('/me', 'session-ended'))
  }
}
