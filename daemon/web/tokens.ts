import { refuse, timestamp } from '../../generator/index.ts'
import { after } from '../../core/duration.ts'
import { honestStatus } from '../http/failure.ts'
import { goOn, siteOf } from '../http/page.ts'
import type { SessionHandler } from '../access/route.ts'
import { rowId } from '../http/row-id.ts'
import { createToken, parseScopes, revokeToken } from '../accounts/tokens.ts'
import { changeOf, type SessionVisit } from '../access/visit.ts'
import type { MeDeps } from './deps.ts'
import { showHome } from './home.ts'
import { failed, tell } from './notice.ts'

/** `POST /me/tokens`: makes a token and shows it, this once, in the answer itself. */
export function postToken(deps: MeDeps): SessionHandler {
  return async (c, visit) => {
    const draft = draftOf(visit)
    try {
      const newToken = await create(deps, visit, draft)
      return await showHome(deps, c, visit, { notice: null, newToken })
    } catch (error) {
      const { refusal, notice } = failed(c, error)
      return showHome(deps, c, visit, { notice, draft, status: honestStatus(refusal) })
    }
  }
}

/** `POST /me/tokens/{id}/revoke`: of one's own tokens. */
export function postRevocation({ registry }: MeDeps): SessionHandler {
  return async (c, visit) => {
    const { user } = visit.session
    const id = c.req.param('id') ?? ''
    const order = { by: changeOf(visit, user), userId: user.id }
    await revokeToken(registry.database, rowId(id) ?? refuse('token_unknown', { id }), timestamp(visit.now), order)
    return goOn(c, siteOf(registry), tell('/me', 'token-revoked'))
  }
}

type Draft = ReturnType<typeof draftOf>

function draftOf({ form }: SessionVisit) {
  const field = (name: string) => form.get(name)?.trim() ?? ''
  return { name: field('name'), scopes: form.getAll('scope'), crates: field('crates'), expires: field('expires') }
}

/** Nothing ticked means everything the user may do, an empty list of crates every crate. */
function create({ registry }: MeDeps, visit: SessionVisit, draft: Draft): Promise<string> {
  const { user } = visit.session
  const crates = draft.crates.split(/[\s,]+/).filter(pattern => pattern !== '')
  const order = {
    userId: user.id,
    name: draft.name,
    scopes: draft.scopes.length > 0 ? parseScopes(draft.scopes) : null,
    crates: crates.length > 0 ? crates : null,
    at: timestamp(visit.now),
    expires: draft.expires === '' ? null : timestamp(after(visit.now, draft.expires)),
    most: registry.settings.limits.tokens_per_user,
  }
  return createToken(registry.database, order, changeOf(visit, user))
}
