import { type Database, findCrate, isName } from '../../generator/index.ts'
import { findUser } from './accounts.ts'

/** An event of the audit log. */
export interface AuditEvent {
  readonly id: number
  readonly at: string
  readonly action: string
  /** A login, `command line`, or `unknown` for a failed login. */
  readonly actor: string
  readonly token: number | null
  readonly address: string | null
  readonly crate: string | null
  readonly version: string | null
  readonly detail: Readonly<Record<string, unknown>> | null
}

/** Selects events; every given condition must hold. */
export interface AuditFilter {
  /** The earliest time. */
  readonly since?: string | undefined
  readonly actor?: string | undefined
  readonly crate?: string | undefined
  readonly action?: string | undefined
  /** Matches the actor, the crate or the action. */
  readonly any?: string
  /** Only events before or after this one. */
  readonly before?: number
  readonly after?: number
  readonly limit: number
}

/** Returns the latest matching events, oldest first; with `after`, the first ones after it. */
export async function listEvents(database: Database, filter: AuditFilter): Promise<AuditEvent[]> {
  const { since, action, before, after } = filter
  const actor = await spellings(database, filter.actor, 'users')
  const crate = await spellings(database, filter.crate, 'crates')
  const any = await spellings(database, filter.any, 'users', 'crates')
  let query = database
    .selectFrom('audit')
    .select(['id', 'at', 'action', 'actor', 'token_id as token', 'address'])
    .select(['crate', 'version', 'detail'])
  if (since !== undefined) query = query.where('at', '>=', since)
  if (actor !== undefined) query = query.where('actor', 'in', actor)
  if (crate !== undefined) query = query.where('crate', 'in', crate)
  if (action !== undefined) query = query.where('action', '=', action)
  if (any !== undefined) {
    query = query.where(is =>
      is.or([is('actor', 'in', any), is('crate', 'in', any), is('action', 'in', any)]),
    )
  }
  if (before !== undefined) query = query.where('id', '<', before)
  if (after !== undefined) query = query.where('id', '>', after)
  const isForward = after !== undefined
  const rows = await query
    .orderBy('id', isForward ? 'asc' : 'desc')
    .limit(filter.limit)
    .execute()
  const events = rows.map(row => ({
    ...row,
    detail: JSON.parse(row.detail ?? 'null') as AuditEvent['detail'],
  }))
  return isForward ? events : events.reverse()
}

/** Returns a name as given and as its user or crate spells it; the log has the latter. */
async function spellings(
  database: Database,
  asked: string | undefined,
  ...kinds: ('users' | 'crates')[]
): Promise<string[] | undefined> {
  if (asked === undefined) return undefined
  const found = [asked]
  if (kinds.includes('users')) found.push((await findUser(database, asked))?.login ?? asked)
  if (kinds.includes('crates') && isName(asked))
    found.push((await findCrate(database, asked))?.name ?? asked)
  return found
}

/** Returns the details of an event in one line, such as `login alice, scopes yank`. */
export function detailText({ detail }: AuditEvent): string {
  return Object.entries(detail ?? {})
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key} ${Array.isArray(value) ? value.join(' ') : String(value)}`)
    .join(', ')
}
