import { listRules, listTrustedOnly } from '../../generator/trust/rules.ts'
import type { Notice } from '../../site/account/frame.ts'
import { trustPage } from '../../site/account/trust-page.ts'
import { account } from '../../site/elements/links.ts'
import { page } from '../http/page.ts'
import { rowId } from '../http/paging.ts'
import { type Action, noticeOf, type Outcome, type Task, viewerOf } from './notice.ts'
import { ruleRows, trustAction } from './trust-form.ts'

const ROWS = 100

/** `GET /me/admin/trust`: all rules. */
export const trust = (task: Task) => showRules(task, { notice: noticeOf(task.c, task.registry) })

/** `/me/admin/trust/{add,remove,only}`. */
export const rulesChange: Action = {
  ...trustAction(() => ({ path: `/${account.trust}` })),
  show: showRules,
}

async function showRules(
  { registry, c, request }: Task,
  { notice = null, status }: Outcome<{ readonly notice: Notice | null }>,
): Promise<Response> {
  const { database, settings, site } = registry
  const rules = await listRules(database, { after: rowId(c.req.query('after')) ?? 0, limit: ROWS })
  const data = {
    rules: ruleRows(rules),
    issuers: Object.keys(settings.issuer),
    only: await listTrustedOnly(database),
    notice,
    next: rules[ROWS - 1]?.id ?? null,
  }
  return page(c, site, trustPage(site, viewerOf(request), data), status)
}
