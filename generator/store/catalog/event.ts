import type { Change, Queries } from './record.ts'

/** Appends an audit event and gives its number. Call it in the transaction of the change. */
export async function addEvent(
  tx: Queries,
  change: Change,
  event: { action: string; crate?: string; version?: string; detail?: Record<string, unknown> },
): Promise<number> {
  const row = await tx
    .insertInto('audit')
    .values({
      at: change.at,
      action: event.action,
      user_id: change.user?.id ?? null,
      actor: change.actor,
      token_id: change.tokenId,
      address: change.address ?? null,
      crate: event.crate ?? null,
      version: event.version ?? null,
      detail: event.detail ? JSON.stringify(event.detail) : null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}
