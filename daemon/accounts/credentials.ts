import { createHmac, randomBytes } from 'node:crypto'
import {
  addEvent,
  type Change,
  type Database,
  first,
  type Registry,
  refuse,
  refuseErrors,
  run,
  timestamp,
} from '../../generator/index.ts'
import {
  type Account,
  type AccountRow,
  accountOf,
  findUser,
  storedPassword,
  type User,
} from './accounts.ts'
import { costOf, hashPassword, isPassword, type LoginPriority, passwordIssues } from './password.ts'
import { hashSecret, isSameText, makeSecret } from './secret.ts'

/** How long a one-time link is valid. */
const LINK_SECONDS = 24 * 3600

/** A password to store, and the cost of its hash. */
interface NewPassword {
  readonly password: string
  readonly cost: number
}

/** Returns the user, or null if login or password is wrong or the user locked, in equal time. */
export async function checkPassword(
  database: Database,
  given: { readonly login: string; readonly password: string; readonly priority: LoginPriority },
  cost: number,
): Promise<User | null> {
  const { login, password, priority } = given
  const stored = await storedPassword(database, login)
  const effort = Math.max(cost, await highestCost(database))
  if (!(await isPassword(password, stored, effort, priority)) || stored === null) return null
  if (costOf(stored) !== cost) {
    // Compare the old hash, so as not to overwrite a password changed in the meantime.
    const sql = 'UPDATE users SET password = ? WHERE canonical = ? AND password = ?'
    await run(database, sql, await hashPassword(password, cost), login.toLowerCase(), stored)
  }
  const user = await findUser(database, login)
  return user && !user.locked ? user : null
}

/** The highest cost of all stored passwords; older ones may cost more than the setting. */
async function highestCost(database: Database): Promise<number> {
  // All costs have two digits, so text order is numeric order.
  const sql = 'SELECT max(password) AS highest FROM users'
  const row = await first<{ highest: string | null }>(database, sql)
  return row?.highest ? costOf(row.highest) : 0
}

/**
 * Sets a password, ends all sessions of the user and voids unused links, because others may know
 * the old password. Refuses a weak password, and a link that was used in the meantime.
 */
export async function setPassword(
  database: Database,
  { id, login }: Pick<Account, 'id' | 'login'>,
  { password, cost }: NewPassword,
  change: Change,
  link?: string,
): Promise<void> {
  refuseErrors(passwordIssues(password, login))
  const stored = await hashPassword(password, cost)
  await database.transaction().execute(async tx => {
    if (link !== undefined && !(await linkOwner(tx, link, new Date(change.at))))
      refuse('link_invalid')
    await run(tx, 'UPDATE users SET password = ? WHERE id = ?', stored, id)
    await run(tx, 'DELETE FROM password_links WHERE user_id = ?', id)
    await run(tx, 'DELETE FROM sessions WHERE user_id = ?', id)
    await addEvent(tx, change, { action: 'password-change', detail: { login } })
  })
}

/** Returns the secret of a new one-time link for a user; earlier links become invalid. */
export async function makeLink(
  database: Database,
  { id, login, locked }: User,
  now: Date,
  change: Change,
): Promise<string> {
  if (locked) refuse('user_locked', { login })
  const secret = makeSecret()
  await database.transaction().execute(async tx => {
    await run(tx, 'DELETE FROM password_links WHERE user_id = ?', id)
    const sql = 'INSERT INTO password_links (hash, user_id, expires_at) VALUES (?, ?, ?)'
    await run(tx, sql, hashSecret(secret), id, timestamp(now, LINK_SECONDS))
    await addEvent(tx, change, { action: 'password-link', detail: { login } })
  })
  return secret
}

/** Returns the URL of a one-time link. */
export function passwordLink({ base }: Registry['urls'], secret: string): string {
  return `${base}/me/password?link=${secret}`
}

/** Returns the user of a one-time link, or null when it is unknown, used or expired. */
export async function linkOwner(
  database: Database,
  secret: string,
  now: Date,
): Promise<Account | null> {
  const sql = `SELECT user_id, login, admin
    FROM password_links JOIN users ON users.id = password_links.user_id
    WHERE hash = ? AND expires_at > ? AND locked_at IS NULL`
  const given = [hashSecret(secret), timestamp(now)]
  const row = await first<AccountRow>(database, sql, ...given)
  return row && accountOf(row)
}

/** Sets a password by a one-time link; a refused password does not use up the link. */
export async function redeemLink(
  database: Database,
  secret: string,
  order: NewPassword & { readonly now: Date },
  changeOf: (user: Account) => Change,
): Promise<Account> {
  const user = (await linkOwner(database, secret, order.now)) ?? refuse('link_invalid')
  await setPassword(database, user, order, changeOf(user), secret)
  return user
}

/**
 * Returns the cookie value that marks a browser as used with an account: an id and its HMAC under
 * the password hash, so nothing is stored and a new password voids it. Null without a password.
 */
export async function makeDevice(database: Database, login: string): Promise<string | null> {
  const stored = await storedPassword(database, login)
  const id = randomBytes(16).toString('base64url')
  return stored && `${id}.${proof(id, stored)}`
}

/** Returns the id in a device cookie if it is valid for the account of a login, otherwise null. */
export async function knownDevice(
  database: Database,
  login: string,
  cookie: string,
): Promise<string | null> {
  const [, id = '', given = ''] = /^([\w-]{22})\.([\w-]{43})$/.exec(cookie) ?? []
  const stored = id === '' ? null : await storedPassword(database, login)
  return stored && isSameText(given, proof(id, stored)) ? id : null
}

function proof(id: string, stored: string): string {
  return createHmac('sha256', stored).update(`plimsoll device ${id}`).digest('base64url')
}
