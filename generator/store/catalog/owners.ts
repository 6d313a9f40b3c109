import { all, type Queries, type Row, run, value } from '../database/statement.ts'

/** An owner as Cargo lists one (specification A.5). */
export type Owner = Readonly<Pick<Row<'users'>, 'id' | 'login' | 'name'>>

/** The owners of a crate, the first one first. */
export function listOwners(db: Queries, crateId: number): Promise<Owner[]> {
  return all<Owner>(
    db,
    `SELECT users.id, users.login, users.name
      FROM owners JOIN users ON users.id = owners.user_id
      WHERE owners.crate_id = ? ORDER BY owners.added_at, users.id`,
    crateId,
  )
}

/** Whether a user owns a crate. */
export async function isOwner(db: Queries, crateId: number, userId: number): Promise<boolean> {
  const text = 'SELECT 1 FROM owners WHERE crate_id = ? AND user_id = ?'
  return (await value(db, text, crateId, userId)) !== null
}

/** Makes a user an owner without an invitation: of a new or an imported crate. */
export async function addOwner(
  tx: Queries,
  crateId: number,
  userId: number,
  at: string,
): Promise<void> {
  const text = 'INSERT INTO owners (crate_id, user_id, added_at) VALUES (?, ?, ?)'
  await run(tx, text, crateId, userId, at)
}
