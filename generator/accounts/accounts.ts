// generator/accounts: Users, their secrets and their rights to crates. Changes and daemon call it;
// it never sees a request.
import { refuse } from '../../core/error/error.ts'
import type { Slice } from '../../core/search/layout.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { latest, timestamp } from '../../core/timestamp.ts'
import type { Database } from '../database/connection.ts'
import { all, type Condition, first, one, type Queries, run, value } from '../database/statement.ts'
import { addEvent, type Change, makeChange, type Permitted, userIdOf } from '../records/change.ts'
import { CRATES_OWNED } from '../records/owners.ts'

/** A user account. Ids fit the u32 that Cargo reads. */
export interface User {
  readonly id: number
  readonly login: string
  readonly name: string | null
  readonly admin: boolean
  /** Whether tokens and logins are refused until the user is unlocked. */
  readonly locked: boolean
  /** Whether the user was removed: the row stays for what they have published and done. */
  readonly removed: boolean
  /** Whether it is a machine's: nobody can log in, only its tokens work. */
  readonly machine: boolean
  readonly created: string
}

export type Account = Pick<User, 'id' | 'login' | 'admin'>

/** The columns of an account in a joined row, where the user's id is `user_id`. */
export type AccountRow = Readonly<Record<'user_id' | 'admin', number>> & Pick<User, 'login'>

/** Returns the account in a row. */
export function accountOf({ user_id: id, login, admin }: AccountRow): Account {
  return { id, login, admin: admin === 1 }
}

/** A user with the number of crates they own and the time they were last seen. */
export interface ActiveUser extends User {
  readonly crates: number
  /** With a token or in a browser; null if never. */
  readonly lastSeen: string | null
}

const USER = `id, login, name, admin, locked_at IS NOT NULL AS locked,
  removed_at IS NOT NULL AS removed, machine, created_at AS created`

type Row<T extends User = User> = Omit<T, Flag> & Record<Flag, number>
type Flag = 'admin' | 'locked' | 'removed' | 'machine'

function user<T extends User>(row: Row<T>) {
  const is = (flag: Flag) => row[flag] === 1
  const flags = { locked: is('locked'), removed: is('removed'), machine: is('machine') }
  return { ...row, admin: is('admin'), ...flags }
}

/** Refuses a login that is malformed, or that a removed or renamed user had (ignoring case). */
export async function requireFree(tx: Queries, login: string): Promise<void> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,38}$/.test(login)) refuse('login_invalid', { login })
  if (await isGone(tx, login)) refuse('login_gone', { login })
}

async function isGone(db: Queries, login: string): Promise<boolean> {
  const sql = `SELECT 1 FROM users WHERE canonical = ? AND removed_at IS NOT NULL
    UNION ALL SELECT 1 FROM former_logins WHERE canonical = ?`
  return (await first(db, sql, login.toLowerCase(), login.toLowerCase())) !== null
}

/** Adds a user. Refuses a login that is malformed, or taken (ignoring case). */
export async function addUser(database: Database, draft: Draft, change: Change): Promise<User> {
  return makeChange(database, change, 'administrator', (tx, by) => insertUser(tx, draft, by))
}

interface Draft {
  readonly login: string
  readonly admin: boolean
  readonly machine?: boolean
}

/** Adds a user in a transaction, as `addUser` does. */
export async function insertUser(
  tx: Queries,
  { login, admin, machine = false }: Draft,
  by: Permitted,
): Promise<User> {
  await requireFree(tx, login)
  const sql = `INSERT INTO users (login, canonical, admin, machine, created_at, made_by)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (canonical) DO NOTHING RETURNING ${USER}`
  const flags = [Number(admin), Number(machine)]
  const row = await first<Row>(tx, sql, login, login.toLowerCase(), ...flags, by.at, userIdOf(by))
  if (!row) return refuse('login_taken', { login })
  const detail = { login, ...(admin && { admin }), ...(machine && { machine }) }
  await addEvent(tx, by, { action: 'user-add', detail })
  return user(row)
}

/** Returns the user with a login, ignoring case, also a removed one; null when there is none. */
export async function findUser(database: Queries, login: string): Promise<User | null> {
  const sql = `SELECT ${USER} FROM users WHERE canonical = ?`
  const row = await first<Row>(database, sql, login.toLowerCase())
  return row && user(row)
}

/** Returns the user with a login; refuses an unknown login, and that of a removed user. */
export async function requireUser(database: Queries, login: string): Promise<User> {
  const user = await findUser(database, login)
  if (user && !user.removed) return user
  return refuse((await isGone(database, login)) ? 'login_gone' : 'login_unknown', { login })
}

/** Returns the password hash of the user with a login, or null when there is none. */
export function storedPassword(database: Database, login: string): Promise<string | null> {
  const sql = 'SELECT password FROM users WHERE canonical = ?'
  return value(database, sql, login.toLowerCase())
}

/** Lists all users, oldest first. */
export async function listUsers(database: Database): Promise<User[]> {
  return (await all<Row>(database, `SELECT ${USER} FROM users ORDER BY id`)).map(user)
}

const CONTAINS = "(instr(canonical, ?) > 0 OR instr(lower(coalesce(name, '')), ?) > 0)"

/** Counts the users whose login or name contains the filter, ignoring case. */
export async function countUsers(database: Database, filter: string): Promise<number> {
  const sql = `SELECT count(*) FROM users WHERE ${CONTAINS}`
  const text = filter.toLowerCase()
  return (await value<number>(database, sql, text, text)) ?? 0
}

/** Returns a page of the users whose login or name contains the filter, sorted by login. */
export async function findUsers(
  database: Database,
  { filter, limit, offset }: Slice & { readonly filter: string },
): Promise<ActiveUser[]> {
  const sql = `SELECT ${USER},
      ${CRATES_OWNED} AS crates,
      (SELECT max(at) FROM (
        SELECT max(last_used_at) AS at FROM tokens WHERE user_id = users.id
        UNION ALL SELECT max(last_seen_at) FROM sessions WHERE user_id = users.id
      ) AS seen) AS "lastSeen"
    FROM users WHERE ${CONTAINS} ORDER BY canonical LIMIT ? OFFSET ?`
  const text = filter.toLowerCase()
  const rows = await all<Row<ActiveUser>>(database, sql, text, text, limit, offset)
  return rows.map(user)
}

/** Returns whether nobody can log in yet: there are no users but machines. */
export async function hasNoUsers(database: Database): Promise<boolean> {
  return (await first(database, 'SELECT id FROM users WHERE machine = 0 LIMIT 1')) === null
}

/**
 * Locks or unlocks a user. Locking ends all sessions and makes tokens and logins fail. Refuses to
 * lock the last administrator; does nothing if the user is in that state already.
 */
export async function setLocked(
  accounts: Accounts,
  { id, login }: User,
  locked: boolean,
  change: Change,
): Promise<void> {
  await makeChange(accounts.database, change, 'administrator', async (tx, by) => {
    const sql = `UPDATE users SET locked_at = ?
      WHERE id = ? AND CASE WHEN locked_at IS NULL THEN 1 ELSE 0 END = ? AND removed_at IS NULL
      RETURNING admin`
    const user = await first<{ admin: number }>(tx, sql, locked ? by.at : null, id, Number(locked))
    if (!user) return
    if (locked) {
      if (user.admin === 1) await requireAdministrator(tx, login, accounts.settings, by)
      await run(tx, 'DELETE FROM sessions WHERE user_id = ?', id)
      // Its page can still say that the account is locked.
      await run(tx, 'UPDATE password_links SET expires_at = ? WHERE user_id = ?', by.at, id)
    }
    const action = locked ? 'user-lock' : 'user-unlock'
    await addEvent(tx, by, { action, detail: { login } })
  })
}

/** Gives or takes a user's administrator rights. Refuses to take the last administrator's. */
export async function setAdmin(
  accounts: Accounts,
  { id, login }: User,
  admin: boolean,
  change: Change,
): Promise<void> {
  await makeChange(accounts.database, change, 'administrator', async (tx, by) => {
    const sql = 'UPDATE users SET admin = ? WHERE id = ? AND admin != ? AND removed_at IS NULL'
    if ((await run(tx, sql, Number(admin), id, Number(admin))) === 0) return
    if (!admin) await requireAdministrator(tx, login, accounts.settings, by)
    const action = admin ? 'user-promote' : 'user-demote'
    await addEvent(tx, by, { action, detail: { login } })
  })
}

/** Refuses a change after which no administrator who can act is left to unlock other users. */
export async function requireAdministrator(
  tx: Queries,
  login: string,
  rules: LoginRules,
  { at }: Permitted,
): Promise<void> {
  if (await lacksAdministrator(tx, rules, new Date(at))) refuse('admin_last', { login })
}

/** The warning of a registry that lacks an administrator. */
export const NO_ADMINISTRATOR =
  'there is no administrator, or each is locked or has to log in at an issuer again, so nobody manages users, or crates without owners, at `/me`; `plimsoll user promote NAME` makes a user one'

/** Returns whether there are users, but none of them is an administrator who can log in and act. */
export async function lacksAdministrator(
  db: Queries,
  rules: LoginRules,
  now: Date,
): Promise<boolean> {
  const { sql, values } = acting(rules, now)
  const counts = `SELECT count(*) AS users,
      count(CASE WHEN admin = 1 AND machine = 0 AND ${sql} THEN 1 END) AS administrators
    FROM users`
  type Counts = Record<'users' | 'administrators', number>
  const { users, administrators } = await one<Counts>(db, counts, ...values)
  return users > 0 && administrators === 0
}

/** The settings that decide how long a login holds. */
export type LoginRules = Pick<Settings, 'auth' | 'oidc'>

/** What changes of accounts need. */
export interface Accounts {
  readonly database: Database
  readonly settings: LoginRules
}

/** The data that decides whether a token or session is still good. */
export interface AccessTime {
  readonly now: Date
  readonly rules: LoginRules
}

const DAY = 86_400

/**
 * Returns the condition of statements on `users` that tokens and sessions of a user answer: no
 * issuer has the account, or its owner has logged in at one of them within its `token_days`. An
 * issuer that the settings no longer have gives nothing.
 */
export function loggedIn({ now, rules: { oidc } }: AccessTime): Condition {
  const issuers = Object.values(oidc)
  const each = issuers.map(() => '(issuer = ? AND logged_in_at > ?)').join(' OR ')
  const own = 'FROM identities WHERE identities.user_id = users.id'
  return {
    sql: `(NOT EXISTS (SELECT 1 ${own}) OR EXISTS (SELECT 1 ${own}
      AND logged_in_at <= ? AND (${each || '1 = 0'})))`,
    values: [
      latest(now),
      ...issuers.flatMap(({ issuer, token_days: days }) => [
        issuer,
        days === 0 ? '' : timestamp(now, -days * DAY),
      ]),
    ],
  }
}

/** Returns the condition that a user can do something: not locked, and logged in as they have to. */
export function acting(rules: LoginRules, now: Date): Condition {
  const { sql, values } = loggedIn({ now, rules })
  return { sql: `users.locked_at IS NULL AND ${sql}`, values }
}
