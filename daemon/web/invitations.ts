import { findCrate, isName, refuse } from '../../generator/index.ts'
import { changeOf } from '../access/browser-request.ts'
import type { SessionHandler } from '../access/route.ts'
import { answerInvitation } from '../accounts/invitations.ts'
import type { Deps } from '../deps.ts'
import { redirect } from '../http/page.ts'
import { withNotice } from './notice.ts'

/** `POST /me/invitations/{name}/accept` and `…/decline`. */
export function postInvitation(
  { registry, indexWorker }: Deps,
  isAccepted: boolean,
): SessionHandler {
  return async (c, request) => {
    const name = c.req.param('name') ?? ''
    const crate = isName(name) ? await findCrate(registry.database, name) : null
    if (!crate) return refuse('invitation_unknown', { name })
    const { user } = request.session
    const time = { now: request.now, seconds: registry.settings.owners.invitation_seconds }
    await answerInvitation(
      registry.database,
      crate,
      user,
      isAccepted,
      changeOf(request, user),
      time,
    )
    if (isAccepted) indexWorker.pages.wake()
    return redirect(
      c,
      registry.site,
      withNotice('/me', isAccepted ? 'invitation-accepted' : 'invitation-declined'),
    )
  }
}
