import {
  addEvent,
  all,
  type Change,
  type Database,
  first,
  operatorChange,
  refuse,
  run,
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

/** A user, as far as access depends on it. */
export type Account = Pick<User, 'id' | 'login' | 'admin'>

/** The columns of an account beside others; the user is named by `user_id`. */
export type AccountRow = Readonly<Record<'user_id' | 'admin', number>> & Pick<User, 'login'>

/** The account in a row. */
export function accountOf({ user_id: id, login, admin }: AccountRow): Account {
  return { id, login, admin: admin === 1 }
}

/** A user, how many crates they own and when they were last seen. */
export interface ActiveUser extends User {
  readonly crates: number
  /** With a token or in a browser; null for never. */
  readonly lastSeen: string | null
}

const USER = 'id, login, name, admin, locked_at IS NOT NULL AS locked, created_at AS created'

/** What SQLite has instead of booleans. */
type Row<T extends User = User> = Omit<T, 'admin' | 'locked'> & Record<'admin' | 'locked', number>

function user<T extends User>(row: Row<T>) {
  return { ...row, admin: row.admin === 1, locked: row.locked === 1 }
}

/** Adds a user. Refuses a login that is malformed or taken in any case. */
export async function addUser(
  database: Database,
  { login, admin, at }: { login: string; admin: boolean; at: string },
  by: Change = operatorChange(at),
): Promise<User> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,38}$/.test(login)) refuse('login_invalid', { login })
  return database.transaction().execute(async tx => {
    const row = await first<Row>(
      tx,
      `INSERT INTO users (login, canonical, admin, created_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (canonical) DO NOTHING RETURNING ${USER}`,
      login,
      login.toLowerCase(),
      Number(admin),
      at,
    )
    if (!row) return refuse('login_taken', { login })
    await addEvent(tx, by, { action: 'user-add', detail: { login, ...(admin && { admin }) } })
    return user(row)
  })
}

/** The user with a login, in any case; null when there is none. */
export async function findUser(database: Database, login: string): Promise<User | null> {
  const sql = `SELECT ${USER} FROM users WHERE canonical = ?`
  const row = await first<Row>(database, sql, login.toLowerCase())
  return row && user(row)
}

/** The user with a login; refuses one that nobody has. */
export async function requireUser(database: Database, login: string): Promise<User> {
  return (await findUser(database, login)) ?? refuse('login_unknown', { login })
}

/** What is stored of the password of the user with a login; null where there is none. */
export async function storedPassword(database: Database, login: string): Promise<string | null> {
  const sql = 'SELECT password FROM users WHERE canonical = ?'
  const row = await first<{ password: string | null }>(database, sql, login.toLowerCase())
  return row?.password ?? null
}

/** All users, oldest first. */
export async function listUsers(database: Database): Promise<User[]> {
  return (await all<Row>(database, `SELECT ${USER} FROM users ORDER BY id`)).map(user)
}

/** How many users there are whose login has the filter in it, in any case. */
export async function countUsers(database: Database, filter: string): Promise<number> {
  const sql = 'SELECT count(*) AS n FROM users WHERE instr(canonical, ?) > 0'
  return (await first<{ n: number }>(database, sql, filter.toLowerCase()))?.n ?? 0
}

/** A page of the users whose login contains the filter, by login. */
export async function findUsers(
  database: Database,
  { filter, limit, offset }: Slice & { readonly filter: string },
): Promise<ActiveUser[]> {
  const sql = `SELECT ${USER},
      (SELECT count(*) FROM owners WHERE user_id = users.id) AS crates,
      nullif(max(
        ifnull((SELECT max(last_used_at) FROM tokens WHERE user_id = users.id), ''),
        ifnull((SELECT max(last_seen_at) FROM sessions WHERE user_id = users.id), '')
      ), '') AS lastSeen
    FROM users WHERE instr(canonical, ?) > 0 ORDER BY canonical LIMIT ? OFFSET ?`
  const rows = await all<Row<ActiveUser>>(database, sql, filter.toLowerCase(), limit, offset)
  return rows.map(user)
}

/** Whether nobody has an account yet. */
export async function hasNoUsers(database: Database): Promise<boolean> {
  return (await first(database, 'SELECT id FROM users LIMIT 1')) === null
}

/**
 * Locks or unlocks a user. Locking ends all sessions and makes tokens and logins fail. Refuses to
 * lock the last administrator; does nothing where it is so already.
 */
export async function setLocked(
  database: Database,
  { id, login, admin }: User,
  locked: boolean,
  change: Change,
): Promise<void> {
  await database.transaction().execute(async tx => {
    const sql = 'UPDATE users SET locked_at = ? WHERE id = ? AND (locked_at IS NULL) = ?'
    if ((await run(tx, sql, locked ? change.at : null, id, Number(locked))) === 0) return
    if (locked) {
      if (admin) await requireAdministrator(tx, login)
      await run(tx, 'DELETE FROM sessions WHERE user_id = ?', id)
      await run(tx, 'DELETE FROM password_links WHERE user_id = ?', id)
    }
    const action = locked ? 'user-lock' : 'user-unlock'
    await addEvent(tx, change, { action, detail: { login } })
  })
}

/** Makes a user an administrator, or no longer one. Refuses to leave the registry without. */
export async function setAdmin(
  database: Database,
  { id, login }: User,
  admin: boolean,
  change: Change,
): Promise<void> {
  await database.transaction().execute(async tx => {
    const sql = 'UPDATE users SET admin = ? WHERE id = ? AND admin != ?'
    if ((await run(tx, sql, Number(admin), id, Number(admin))) === 0) return
    if (!admin) await requireAdministrator(tx, login)
    const action = admin ? 'user-promote' : 'user-demote'
    await addEvent(tx, change, { action, detail: { login } })
  })
}

/** Somebody must be able to let the others in again. */
async function requireAdministrator(tx: Database, login: string): Promise<void> {
  const sql = 'SELECT id FROM users WHERE admin = 1 AND locked_at IS NULL LIMIT 1'
  if (!(await first(tx, sql))) refuse('admin_last', { login })
}
