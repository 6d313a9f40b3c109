import { isName, refuse } from '../../generator/index.ts'
import { answerInvitation } from '../accounts/invitations.ts'
import { goOn, siteOf } from '../http/page.ts'
import type { SessionHandler } from '../access/route.ts'
import { changeOf } from '../access/visit.ts'
import type { MeDeps } from './deps.ts'
import { tell } from './notice.ts'

/** `POST /me/invitations/{name}/accept` and `…/decline`. */
export function postInvitation({ registry, regenerator }: MeDeps, isAccepted: boolean): SessionHandler {
  return async (c, visit) => {
    const name = c.req.param('name') ?? ''
    const crate = isName(name) ? await registry.catalog.find(name) : null
    if (!crate) return refuse('invitation_unknown', { name })
    const { user } = visit.session
    const time = { now: visit.now, seconds: registry.settings.owners.invitation_seconds }
    await answerInvitation(registry.database, crate, user, isAccepted, changeOf(visit, user), time)
    if (isAccepted) regenerator.pages.kick()
    return goOn(c, siteOf(registry), tell('/me', isAccepted ? 'invitation-accepted' : 'invitation-declined'))
  }
}
