import { type Database, refuse } from '../generator/index.ts'

/** Somebody who may publish. Ids fit the u32 that Cargo reads. */
export interface User {
  readonly id: number
  readonly login: string
  readonly name: string | null
  readonly admin: boolean
  readonly created: string
}

/** Adds a user. Refuses a login that is malformed or taken; logins that differ only in case are one. */
export async function addUser(database: Database, user: { login: string; admin: boolean; at: string }): Promise<User> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,38}$/.test(user.login)) refuse('login_invalid', { login: user.login })
  const row = await database
    .insertInto('users')
    .values({
      login: user.login,
      canonical: user.login.toLowerCase(),
      admin: Number(user.admin),
      created_at: user.at,
    })
    .onConflict(conflict => conflict.column('canonical').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!row) return refuse('login_taken', { login: user.login })
  return { id: row.id, login: user.login, name: null, admin: user.admin, created: user.at }
}

/** The user with a login, in any case; null when there is none. */
export async function findUser(database: Database, login: string): Promise<User | null> {
  const row = await database
    .selectFrom('users')
    .selectAll()
    .where('canonical', '=', login.toLowerCase())
    .executeTakeFirst()
  return row ? userRecord(row) : null
}

/** All users, oldest first. */
export async function listUsers(database: Database): Promise<User[]> {
  return (await database.selectFrom('users').selectAll().orderBy('id').execute()).map(userRecord)
}

/** Whether nobody has an account yet. */
export async function hasNoUsers(database: Database): Promise<boolean> {
  return (await database.selectFrom('users').select('id').limit(1).executeTakeFirst()) === undefined
}

function userRecord(row: { id: number; login: string; name: string | null; admin: number; created_at: string }): User {
  return { id: row.id, login: row.login, name: row.name, admin: row.admin === 1, created: row.created_at }
}
