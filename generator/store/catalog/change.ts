import { insert, type Queries } from '../database/statement.ts'
import { requireUnpaused } from './pause.ts'

/** The actor and time of a change to the catalog (RFC 3339, UTC, whole seconds). */
export interface Change {
  readonly at: string
  readonly actor: string
  /** Null for the operator at the command line. */
  readonly user: { readonly id: number; readonly admin: boolean } | null
  readonly tokenId: number | null
  /** The remote address, for changes over HTTP. */
  readonly address?: string | null
}

/** Returns a change made at the command line, which has neither user nor token. */
export function operatorChange(at: string): Change {
  return { at, actor: 'command line', user: null, tokenId: null }
}

/**
 * Appends an audit event and returns its id. Call it in the transaction of the change, of which it
 * is a part: it refuses the change while the registry is paused.
 */
export async function addEvent(
  tx: Queries,
  change: Change,
  event: { action: string; crate?: string; version?: string; detail?: Record<string, unknown> },
): Promise<number> {
  await requireUnpaused(tx)
  return insert(tx, 'audit', {
    ...event,
    at: change.at,
    user_id: change.user?.id ?? null,
    actor: change.actor,
    token_id: change.tokenId,
    address: change.address ?? null,
    detail: event.detail ? JSON.stringify(event.detail) : null,
  })
}
