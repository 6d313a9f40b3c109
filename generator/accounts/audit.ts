import { isName } from '../../core/name.ts'
import type { Database } from '../database/connection.ts'
import { all, column, LIST } from '../database/statement.ts'
import { findCrate } from '../records/crates.ts'
import { findUser } from './accounts.ts'

export interface AuditEvent {
  readonly id: number
  readonly at: string
  readonly action: string
  /** A login, `command line`, or `unknown` for a failed login. */
  readonly actor: string
  readonly token: number | null
  readonly token_name: string | null
  readonly address: string | null
  readonly crate: string | null
  readonly version: string | null
  readonly detail: Readonly<Record<string, unknown>> | null
}

type StoredEvent = Omit<AuditEvent, 'detail'> & { readonly detail: string | null }

/** Selects events; every given condition must hold. */
export interface AuditFilter {
  readonly since?: string | undefined
  readonly actor?: string | undefined
  readonly crate?: string | undefined
  readonly action?: string | undefined
  /** Only events before or after this one. */
  readonly before?: number
  readonly after?: number
  readonly limit: number
}

/** Returns the latest matching events, oldest first; with `after`, the first ones after it. */
export async function listEvents(database: Database, filter: AuditFilter): Promise<AuditEvent[]> {
  const { since, action, before, after } = filter
  const { actor, crate } = filter
  // The log has names as users and crates spell them.
  const user = actor === undefined ? null : await findUser(database, actor)
  const existing = crate !== undefined && isName(crate) ? await findCrate(database, crate) : null
  const both = (asked?: string, spelled = asked) =>
    asked === undefined ? undefined : [asked, spelled]
  const conditions = [
    { sql: 'at >= ?', value: since },
    { sql: `actor IN ${LIST}`, value: both(actor, user?.login) },
    { sql: `crate IN ${LIST}`, value: both(crate, existing?.name) },
    { sql: 'action = ?', value: action },
    { sql: 'id < ?', value: before },
    { sql: 'id > ?', value: after },
  ].flatMap(({ sql, value }) => (value === undefined ? [] : [{ sql, value }]))
  const where = conditions.map(condition => condition.sql).join(' AND ') || '1 = 1'
  const isForward = after !== undefined
  const sql = `SELECT id, at, action, actor, token_id AS token,
      (SELECT name FROM tokens WHERE tokens.id = token_id) AS token_name,
      address, crate, version, detail
    FROM audit WHERE ${where} ORDER BY id ${isForward ? 'ASC' : 'DESC'} LIMIT ?`
  const values = conditions.map(condition => condition.value)
  const rows = await all<StoredEvent>(database, sql, ...values, filter.limit)
  const events = rows.map(row => ({
    ...row,
    detail: JSON.parse(row.detail ?? 'null') as AuditEvent['detail'],
  }))
  return isForward ? events : events.reverse()
}

/** Returns every action in the log; each costs one search of the index. */
export function listActions(database: Database): Promise<string[]> {
  const sql = `WITH RECURSIVE actions (action) AS (
      SELECT min(action) FROM audit
      UNION ALL SELECT (SELECT min(audit.action) FROM audit WHERE audit.action > actions.action)
        FROM actions WHERE actions.action IS NOT NULL)
    SELECT action FROM actions WHERE action IS NOT NULL`
  return column(database, sql)
}

/** Returns details of an event, such as `login alice, scopes yank`, without those in `shown`. */
export function detailText({ detail }: AuditEvent, ...shown: string[]): string {
  return Object.entries(detail ?? {})
    .filter(([key, value]) => String(value ?? '') !== '' && !shown.includes(key))
    .map(([key, value]) => `${key} ${Array.isArray(value) ? value.join(' ') : String(value)}`)
    .join(', ')
}
