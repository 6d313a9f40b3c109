import type { Context } from 'hono'
import { listRules, listTrustedOnly } from '../../generator/trust/rules.ts'
import type { Notice } from '../../site/account/frame.ts'
import { trustPage } from '../../site/account/trust-page.ts'
import type { SessionRequest } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { page } from '../http/page.ts'
import { rowId } from '../http/paging.ts'
import { attempt, noticeOf, type Outcome, redirectDone, viewerOf } from './notice.ts'
import { changeTrust, ruleRows } from './trust-form.ts'

const ROWS = 100

/** `GET /me/admin/trust`: all rules. */
export function trust(deps: Deps, c: Context, request: SessionRequest) {
  return showRules(deps, c, request, { notice: noticeOf(c) })
}

/** `POST /me/admin/trust/{add,remove,only}`. */
export function postTrust(deps: Deps, c: Context, request: SessionRequest) {
  const work = async () => {
    const deed = await changeTrust(deps.registry, request, c.req.param('action'))
    return redirectDone(c, deps.registry, '/me/admin/trust', deed)
  }
  return attempt(c, work, refused => showRules(deps, c, request, refused))
}

async function showRules(
  { registry }: Deps,
  c: Context,
  request: SessionRequest,
  { notice = null, status }: Outcome<{ readonly notice: Notice | null }>,
): Promise<Response> {
  const { database, settings, site } = registry
  const rules = await listRules(database, { after: rowId(c.req.query('after')) ?? 0, limit: ROWS })
  const next = rules.length === ROWS ? (rules.at(-1)?.id ?? null) : null
  const only = await listTrustedOnly(database)
  const data = { rules: ruleRows(rules), issuers: Object.keys(settings.issuer), only, notice, next }
  return page(c, site, trustPage(site, viewerOf(request), data), status)
}
