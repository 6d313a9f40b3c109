import { after, refuse, timestamp } from '../../generator/index.ts'
import { changeOf, type SessionRequest } from '../access/browser-request.ts'
import type { SessionHandler } from '../access/route.ts'
import { createToken, parseScopes, revokeToken } from '../accounts/tokens.ts'
import type { Deps } from '../deps.ts'
import { honestStatus } from '../http/failure.ts'
import { redirect } from '../http/page.ts'
import { rowId } from '../http/parameters.ts'
import { showHome } from './home-page.ts'
import { failed, withNotice } from './notice.ts'

/** `POST /me/tokens`: makes a token and shows it, this once, in the answer itself. */
export function postToken(deps: Deps): SessionHandler {
  return async (c, request) => {
    const draft = draftOf(request)
    try {
      const newToken = await create(deps, request, draft)
      return await showHome(deps, c, request, { notice: null, newToken })
    } catch (error) {
      const { refusal, notice } = failed(c, error)
      return showHome(deps, c, request, { notice, draft, status: honestStatus(refusal) })
    }
  }
}

/** `POST /me/tokens/{id}/revoke`: of one's own tokens. */
export function postRevocation({ registry }: Deps): SessionHandler {
  return async (c, request) => {
    const { user } = request.session
    const id = c.req.param('id') ?? ''
    const order = { by: changeOf(request, user), userId: user.id }
    await revokeToken(
      registry.database,
      rowId(id) ?? refuse('token_unknown', { id }),
      timestamp(request.now),
      order,
    )
    return redirect(c, registry.site, withNotice('/me', 'token-revoked'))
  }
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

/** No crates means all crates; the permissions must be chosen. */
function create({ registry }: Deps, request: SessionRequest, draft: Draft): Promise<string> {
  const { user } = request.session
  if (draft.access !== 'full' && draft.scopes.length === 0) refuse('token_access_absent')
  const crates = draft.crates.split(/[\s,]+/).filter(pattern => pattern !== '')
  const order = {
    userId: user.id,
    name: draft.name,
    scopes: draft.access === 'full' ? null : parseScopes(draft.scopes),
    crates: crates.length > 0 ? crates : null,
    at: timestamp(request.now),
    expires: draft.expires === '' ? null : timestamp(after(request.now, draft.expires)),
    most: registry.settings.limits.tokens_per_user,
  }
  return createToken(registry.database, order, changeOf(request, user))
}
