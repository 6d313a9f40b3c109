import { auditPage } from '../../site/account/audit-page.ts'
import type { SessionHandler } from '../access/route.ts'
import { type AuditEvent, detailText, listEvents } from '../accounts/audit.ts'
import type { Deps } from '../deps.ts'
import { page } from '../http/page.ts'
import { rowId } from '../http/paging.ts'
import { viewerOf } from './notice.ts'

const ROWS = 50

/** `GET /me/admin/audit?q=…&before=…|after=…`: the log, newest first. */
export function auditLog({ registry }: Deps): SessionHandler {
  const site = registry.site
  const { database } = registry
  return async (c, request) => {
    const filter = c.req.query('q')?.trim() ?? ''
    const any = filter === '' ? {} : { any: filter }
    const [before, after] = [rowId(c.req.query('before')), rowId(c.req.query('after'))]
    const side = after !== null ? { after } : before !== null ? { before } : {}
    const events = await listEvents(database, { ...any, ...side, limit: ROWS })
    const [oldest, newest] = [events.at(0), events.at(-1)]
    const hasOlder =
      oldest && (await listEvents(database, { ...any, before: oldest.id, limit: 1 })).length > 0
    const hasNewer =
      newest && (await listEvents(database, { ...any, after: newest.id, limit: 1 })).length > 0
    const link = (name: string, id: number) =>
      `?${new URLSearchParams({ q: filter, [name]: String(id) })}`
    const text = auditPage(site, {
      viewer: viewerOf(request),
      filter,
      rows: events.reverse().map(auditRow),
      older: hasOlder ? link('before', oldest.id) : null,
      newer: hasNewer ? link('after', newest.id) : null,
    })
    return page(c, site, text)
  }
}

function auditRow(event: AuditEvent) {
  const { at, actor, action, crate, version, token, address } = event
  const notes = [
    detailText(event),
    token === null ? '' : `with token ${token}`,
    address ? `from ${address}` : '',
  ]
  const detail = notes.filter(note => note !== '').join(', ')
  return { at, actor, action, crate, version, detail: detail === '' ? null : detail }
}
