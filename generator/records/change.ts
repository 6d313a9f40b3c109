// generator/records: What is true: statements on crates and releases. Changes, pages and daemon
// call it; it writes no file.
import type { Database } from '../database/connection.ts'
import { type Queries, value } from '../database/statement.ts'
import { requireUnpaused, UNPAUSED } from './pause.ts'

/** A user who changes something, as they were when the request was looked at. */
type Author = { readonly id: number; readonly admin: boolean }

/**
 * Returns the user as they are now; refuses if their token, session or whatever else gave them the
 * right to a change is no longer good.
 */
export type StillMay = (tx: Queries) => Promise<Author>

/** The time of a change to the records (RFC 3339, UTC, whole seconds), and who makes it. */
export type Change = {
  readonly at: string
  readonly actor: string
  /** The remote address, for changes over HTTP. */
  readonly address?: string | null
  /** The session in the browser that it is made in; none by a token, a link or a password. */
  readonly sessionId?: number
} & (
  | {
      readonly user: Author
      readonly tokenId: number | null
      readonly stillMay: StillMay
    }
  /** The operator at the command line, or nobody who is known. */
  | { readonly user: null; readonly tokenId: null }
)

declare const permitted: unique symbol
/** A change whose right was required in its transaction, with the user as they are there. */
export type Permitted = Change & { readonly [permitted]: true }

/** Returns a change made at the command line, which has neither user nor token. */
export function operatorChange(at: string): Change {
  return { at, actor: 'command line', user: null, tokenId: null }
}

/** Makes a change in a transaction of its own, which begins with requiring the right to it. */
export function makeChange<T>(
  database: Database,
  change: Change,
  work: (tx: Queries, by: Permitted) => Promise<T>,
): Promise<T> {
  return database.transaction(async tx => work(tx, await requireRight(tx, change)))
}

/**
 * Requires the right to a change in a transaction that others share. Rights may end while a request
 * arrives: what was true before the transaction decides nothing.
 */
export async function requireRight(tx: Queries, change: Change): Promise<Permitted> {
  return (change.user ? { ...change, user: await change.stillMay(tx) } : change) as Permitted
}

/**
 * Appends an audit event and returns its id. Call it in the transaction of the change, of which it
 * is a part: it refuses the change while the registry is paused.
 */
export async function addEvent(
  tx: Queries,
  change: Permitted,
  event: { action: string; crate?: string; version?: string; detail?: Record<string, unknown> },
): Promise<number> {
  const sql = `INSERT INTO audit
    (action, crate, version, detail, at, user_id, actor, token_id, address)
    SELECT ?, ?, ?, ?, ?, CAST(? AS INTEGER), ?, CAST(? AS INTEGER), ? WHERE ${UNPAUSED}
    RETURNING id`
  const { action, crate = null, version = null, detail } = event
  const { at, user, actor, tokenId, sessionId: session, address = null } = change
  const details =
    detail || session ? JSON.stringify({ ...detail, ...(session && { session }) }) : null
  const what = [action, crate, version, details, at] as const
  const id = await value<number>(tx, sql, ...what, user?.id ?? null, actor, tokenId, address)
  if (id !== null) return id
  // Refuses the change, or removes a pause that is over.
  await requireUnpaused(tx)
  return addEvent(tx, change, event)
}
