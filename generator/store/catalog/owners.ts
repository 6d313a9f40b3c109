import type { Queries } from './change.ts'

/** An owner as Cargo lists one (specification A.5). */
export interface Owner {
  readonly id: number
  readonly login: string
  readonly name: string | null
}

/** The owners of a crate, the first one first. */
export async function listOwners(db: Queries, crateId: number): Promise<Owner[]> {
  return db
    .selectFrom('owners')
    .innerJoin('users', 'users.id', 'owners.user_id')
    .select(['users.id', 'users.login', 'users.name'])
    .where('owners.crate_id', '=', crateId)
    .orderBy('owners.added_at')
    .orderBy('users.id')
    .execute()
}

/** Whether a user owns a crate. */
export async function isOwner(db: Queries, crateId: number, userId: number): Promise<boolean> {
  const row = await db
    .selectFrom('owners')
    .select('user_id')
    .where('crate_id', '=', crateId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row !== undefined
}

/** Makes a user an owner without an invitation: of a new or an imported crate. */
export async function addOwner(
  tx: Queries,
  crateId: number,
  userId: number,
  at: string,
): Promise<void> {
  await tx
    .insertInto('owners')
    .values({ crate_id: crateId, user_id: userId, added_at: at, added_by: null })
    .execute()
}
