import type { Context } from 'hono'
import { listRules, listTrustedOnly } from '../../generator/trust/rules.ts'
import type { Notice } from '../../site/account/frame.ts'
import { trustPage } from '../../site/account/trust-page.ts'
import type { SessionRequest } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { page } from '../http/page.ts'
import { rowId } from '../http/paging.ts'
import { attempt, noticeOf, type Outcome, viewerOf } from './notice.ts'
import * as form from './trust-form.ts'

const ROWS = 100

const path = '/me/admin/trust'

/** `GET /me/admin/trust`: all rules. */
export function trust(deps: Deps, c: Context, request: SessionRequest) {
  return showRules(deps, c, request, { notice: noticeOf(c, deps.registry) })
}

/** `GET /me/admin/trust/{remove,only}`. */
export function askTrust({ registry }: Deps, c: Context, request: SessionRequest) {
  return form.askTrust({ registry, c, request, path })
}

/** `POST /me/admin/trust/{add,remove,only}`. */
export function postTrust(deps: Deps, c: Context, request: SessionRequest) {
  const work = () => form.changeTrust({ registry: deps.registry, c, request, path })
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
  const data = {
    rules: form.ruleRows(rules),
    issuers: Object.keys(settings.issuer),
    only: await listTrustedOnly(database),
    notice,
    next: rules[ROWS - 1]?.id ?? null,
  }
  return page(c, site, trustPage(site, viewerOf(request), data), status)
}
