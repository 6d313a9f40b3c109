import type { Database } from '../generator/index.ts'

/** An event of the audit log. */
export interface AuditEvent {
  readonly id: number
  readonly at: string
  readonly action: string
  /** Login, `command line`, or `unknown` for who did not get in. */
  readonly actor: string
  readonly token: number | null
  readonly address: string | null
  readonly crate: string | null
  readonly version: string | null
  readonly detail: Readonly<Record<string, unknown>> | null
}

/** Which events are asked for; all of what is given has to hold. */
export interface AuditFilter {
  /** Not older than this. */
  readonly since?: string
  readonly actor?: string
  readonly crate?: string
  readonly action?: string
  /** Actor, crate or action. */
  readonly any?: string
  /** Only events before or after this one. */
  readonly before?: number
  readonly after?: number
  readonly limit: number
}

/** The latest events that fit, oldest first; with `after`, the first that come after it. */
export async function listEvents(database: Database, filter: AuditFilter): Promise<AuditEvent[]> {
  const { since, actor, crate, action, any, before, after } = filter
  let query = database.selectFrom('audit').selectAll()
  if (since !== undefined) query = query.where('at', '>=', since)
  if (actor !== undefined) query = query.where('actor', '=', actor)
  if (crate !== undefined) query = query.where('crate', '=', crate)
  if (action !== undefined) query = query.where('action', '=', action)
  if (any !== undefined) {
    query = query.where(is => is.or([is('actor', '=', any), is('crate', '=', any), is('action', '=', any)]))
  }
  if (before !== undefined) query = query.where('id', '<', before)
  if (after !== undefined) query = query.where('id', '>', after)
  const isForward = after !== undefined
  const rows = await query
    .orderBy('id', isForward ? 'asc' : 'desc')
    .limit(filter.limit)
    .execute()
  const events = rows.map(row => ({
    id: row.id,
    at: row.at,
    action: row.action,
    actor: row.actor,
    token: row.token_id,
    address: row.address,
    crate: row.crate,
    version: row.version,
    detail: row.detail === null ? null : (JSON.parse(row.detail) as Record<string, unknown>),
  }))
  return isForward ? events : events.reverse()
}

/** The details of an event in one line: `login alice, scopes yank`. */
export function detailText({ detail }: AuditEvent): string {
  return Object.entries(detail ?? {})
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key} ${Array.isArray(value) ? value.join(' ') : String(value)}`)
    .join(', ')
}
