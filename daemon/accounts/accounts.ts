import {
  addEvent,
  type Change,
  type Database,
  operatorChange,
  refuse,
  type Slice,
} from '../../generator/index.ts'

/** Somebody who may publish. Ids fit the u32 that Cargo reads. */
export interface User {
  readonly id: number
  readonly login: string
  readonly name: string | null
  readonly admin: boolean
  /** Whether tokens and logins are refused for now. */
  readonly locked: boolean
  readonly created: string
}

type UserRow = Omit<User, 'admin' | 'locked' | 'created'> & {
  readonly admin: number
  readonly locked_at: string | null
  readonly created_at: string
}

/** A user, as far as access depends on it. */
export type Account = Pick<User, 'id' | 'login' | 'admin'>

/** Adds a user. Refuses a login that is malformed or taken in any case. */
export async function addUser(
  database: Database,
  user: { login: string; admin: boolean; at: string },
  by: Change = operatorChange(user.at),
): Promise<User> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,38}$/.test(user.login))
    refuse('login_invalid', { login: user.login })
  return database.transaction().execute(async tx => {
    const row = await tx
      .insertInto('users')
      .values({
        login: user.login,
        canonical: user.login.toLowerCase(),
        admin: Number(user.admin),
        created_at: user.at,
      })
      .onConflict(conflict => conflict.column('canonical').doNothing())
      .returningAll()
      .executeTakeFirst()
    if (!row) return refuse('login_taken', { login: user.login })
    const detail = { login: user.login, ...(user.admin && { admin: true }) }
    await addEvent(tx, by, { action: 'user-add', detail })
    return userRecord(row)
  })
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

/** The user with a login; refuses one that nobody has. */
export async function requireUser(database: Database, login: string): Promise<User> {
  return (await findUser(database, login)) ?? refuse('login_unknown', { login })
}

/** All users, oldest first. */
export async function listUsers(database: Database): Promise<User[]> {
  return (await database.selectFrom('users').selectAll().orderBy('id').execute()).map(userRecord)
}

/** How many users there are whose login has the filter in it, in any case. */
export async function countUsers(database: Database, filter: string): Promise<number> {
  const query = loginsWith(database, filter).select(database.fn.countAll<number>().as('users'))
  return Number((await query.executeTakeFirstOrThrow()).users)
}

/** A page of the users whose login contains the filter, by login. */
export async function findUsers(
  database: Database,
  { filter, limit, offset }: Slice & { readonly filter: string },
): Promise<User[]> {
  const query = loginsWith(database, filter)
    .selectAll()
    .orderBy('canonical')
    .limit(limit)
    .offset(offset)
  return (await query.execute()).map(userRecord)
}

function loginsWith(database: Database, filter: string) {
  return database
    .selectFrom('users')
    .where(({ eb, fn, val }) =>
      eb(fn<number>('instr', ['canonical', val(filter.toLowerCase())]), '>', 0),
    )
}

/** Whether nobody has an account yet. */
export async function hasNoUsers(database: Database): Promise<boolean> {
  return (await database.selectFrom('users').select('id').limit(1).executeTakeFirst()) === undefined
}

/**
 * Locks or unlocks a user. Locking ends all sessions and makes tokens and logins fail. Refuses to
 * lock the last administrator; does nothing where it is so already.
 */
export async function setLocked(
  database: Database,
  user: User,
  locked: boolean,
  change: Change,
): Promise<void> {
  await database.transaction().execute(async tx => {
    const done = await tx
      .updateTable('users')
      .set({ locked_at: locked ? change.at : null })
      .where('id', '=', user.id)
      .where('locked_at', locked ? 'is' : 'is not', null)
      .executeTakeFirst()
    if (done.numUpdatedRows === 0n) return
    if (locked) {
      await requireAdministrator(tx, user)
      for (const table of ['sessions', 'password_links'] as const)
        await tx.deleteFrom(table).where('user_id', '=', user.id).execute()
    }
    const action = locked ? 'user-lock' : 'user-unlock'
    await addEvent(tx, change, { action, detail: { login: user.login } })
  })
}

/** Makes a user an administrator, or no longer one. Refuses to leave the registry without. */
export async function setAdmin(
  database: Database,
  user: User,
  admin: boolean,
  change: Change,
): Promise<void> {
  await database.transaction().execute(async tx => {
    const done = await tx
      .updateTable('users')
      .set({ admin: Number(admin) })
      .where('id', '=', user.id)
      .where('admin', '=', Number(!admin))
      .executeTakeFirst()
    if (done.numUpdatedRows === 0n) return
    if (!admin) await requireAdministrator(tx, user)
    const action = admin ? 'user-promote' : 'user-demote'
    await addEvent(tx, change, { action, detail: { login: user.login } })
  })
}

/** Somebody must be able to let the others in again. */
async function requireAdministrator(tx: Database, user: User): Promise<void> {
  if (!user.admin) return
  const query = tx
    .selectFrom('users')
    .select('id')
    .where('admin', '=', 1)
    .where('locked_at', 'is', null)
  if (!(await query.limit(1).executeTakeFirst())) refuse('admin_last', { login: user.login })
}

function userRecord({ id, login, name, created_at, ...row }: UserRow): User {
  const locked = row.locked_at !== null
  return { id, login, name, admin: row.admin === 1, locked, created: created_at }
}
