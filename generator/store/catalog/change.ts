import { insert, type Queries } from '../database/statement.ts'

/** Who changes the catalog, and when (RFC 3339, UTC, whole seconds). */
export interface Change {
  readonly at: string
  readonly actor: string
  /** Null for the operator at the command line. */
  readonly user: { readonly id: number; readonly admin: boolean } | null
  readonly tokenId: number | null
  /** Where the request came from, for changes over the web. */
  readonly address?: string | null
}

/** A change made at the command line, where there is neither user nor token. */
export function operatorChange(at: string): Change {
  return { at, actor: 'command line', user: null, tokenId: null }
}

/** Appends an audit event and gives its number. Call it in the transaction of the change. */
export async function addEvent(
  tx: Queries,
  change: Change,
  event: { action: string; crate?: string; version?: string; detail?: Record<string, unknown> },
): Promise<number> {
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
