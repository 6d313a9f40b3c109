import { createHmac, randomBytes } from 'node:crypto'
import { refuse, refuseErrors } from '../../core/error/error.ts'
import { passwordIssues } from '../../core/password.ts'
import { latest, timestamp } from '../../core/timestamp.ts'
import type { RegistryUrls } from '../../core/urls/urls.ts'
import type { Database } from '../database/connection.ts'
import { first, type Queries, run, value } from '../database/statement.ts'
import { addEvent, type Change, makeChange, userIdOf } from '../records/change.ts'
import {
  type AccessTime,
  type Account,
  type AccountRow,
  accountOf,
  findUser,
  loggedIn,
  requireUser,
  storedPassword,
} from './accounts.ts'
import { costOf, hashPassword, isPassword, type LoginPriority } from './password.ts'
import { hashSecret, isSameText, makeSecret } from './secret.ts'
import type { SessionWay } from './sessions.ts'

const LINK_SECONDS = 24 * 3600

/** A user, and the stored form of the password that was shown or set for them. */
export interface Credential {
  readonly user: Account
  readonly stored: string
}

/** Returns a password's credential, or null if login or password is wrong, in equal time. */
export async function checkPassword(
  database: Database,
  attempt: { readonly login: string; readonly password: string; readonly priority: LoginPriority },
  cost: number,
): Promise<Credential | null> {
  const { login, password, priority } = attempt
  const stored = await storedPassword(database, login)
  const effort = Math.max(cost, await highestCost(database))
  if (!(await isPassword(password, stored, effort, priority)) || stored === null) return null
  const user = await findUser(database, login)
  if (!user || user.locked) return null
  if (costOf(stored) === cost) return { user, stored }
  const renewed = await hashPassword(password, cost)
  // Compare the old hash, so as not to overwrite a password changed or renewed in the meantime.
  const sql = 'UPDATE users SET password = ? WHERE id = ? AND password = ?'
  const isRenewed = (await run(database, sql, renewed, user.id, stored)) > 0
  return isRenewed ? { user, stored: renewed } : checkPassword(database, attempt, cost)
}

/**
 * Returns the user of a credential; refuses a locked user, one with another password by now, and,
 * unless a link has brought them, one whom only a login at an issuer lets in again.
 */
export async function requireCredential(
  db: Queries,
  { user, stored }: Credential,
  time: AccessTime,
  way: SessionWay = 'password',
): Promise<Account> {
  const member = loggedIn(time)
  const sql = `SELECT id AS user_id, login, admin,
      CASE WHEN ${member.sql} THEN 1 ELSE 0 END AS member
    FROM users WHERE id = ? AND password = ? AND locked_at IS NULL`
  type Found = AccountRow & { readonly member: number }
  const row = await first<Found>(db, sql, ...member.values, user.id, stored)
  if (row?.member === 0 && way !== 'link') refuse('login_elsewhere')
  return row ? accountOf(row) : refuse('login_failed')
}

/** The highest cost of all stored passwords; older ones may cost more than the setting. */
async function highestCost(database: Database): Promise<number> {
  // All costs have two digits, so text order is numeric order.
  const highest = await value<string>(database, 'SELECT max(password) FROM users')
  return highest ? costOf(highest) : 0
}

/**
 * Sets a password, ends all sessions of the user and voids unused links, because others may know
 * the old password. Refuses a weak password.
 */
export async function setPassword(
  database: Database,
  user: Account,
  { password, cost }: { readonly password: string; readonly cost: number },
  change: Change,
): Promise<Credential> {
  const { id, login } = user
  refuseErrors(passwordIssues(password, login))
  const stored = await hashPassword(password, cost)
  await makeChange(database, change, { user: id }, async (tx, by) => {
    const sql = 'UPDATE users SET password = ? WHERE id = ? AND machine = 0'
    if ((await run(tx, sql, stored, id)) === 0) refuse('user_machine', { login })
    await run(tx, 'DELETE FROM password_links WHERE user_id = ?', id)
    await run(tx, 'DELETE FROM sessions WHERE user_id = ?', id)
    await addEvent(tx, by, { action: 'password-change', detail: { login } })
  })
  return { user, stored }
}

/** Returns the secret of a new one-time link for a user; earlier links become invalid. */
export async function makeLink(
  database: Database,
  { id, login }: Account,
  now: Date,
  change: Change,
): Promise<string> {
  const secret = makeSecret()
  await makeChange(database, change, 'administrator', async (tx, by) => {
    await run(tx, 'DELETE FROM password_links WHERE user_id = ?', id)
    const { locked, machine } = await requireUser(tx, login)
    if (machine) refuse('user_machine', { login })
    if (locked) refuse('user_locked', { login })
    const sql = `INSERT INTO password_links (hash, user_id, expires_at, made_by)
      VALUES (?, ?, ?, ?)`
    await run(tx, sql, hashSecret(secret), id, timestamp(now, LINK_SECONDS), userIdOf(by))
    await addEvent(tx, by, { action: 'password-link', detail: { login } })
  })
  return secret
}

/** Returns the URL of a one-time link. */
export function passwordLink({ base }: RegistryUrls, secret: string): string {
  return `${base}/me/password?link=${secret}`
}

/** Returns the user of a one-time link; refuses a link of no use, and says why. */
export async function requireLink(db: Queries, secret: string, now: Date): Promise<Account> {
  const sql = `SELECT user_id, login, admin, locked_at, expires_at
    FROM password_links JOIN users ON users.id = password_links.user_id WHERE hash = ?`
  type Link = AccountRow & Readonly<{ locked_at: string | null; expires_at: string }>
  const link = (await first<Link>(db, sql, hashSecret(secret))) ?? refuse('link_invalid')
  if (link.locked_at !== null) refuse('link_locked')
  const isGood = link.expires_at > timestamp(now) && link.expires_at <= latest(now, LINK_SECONDS)
  return isGood ? accountOf(link) : refuse('link_expired')
}

/**
 * Returns the cookie value that marks a browser as used with an account: an id and its HMAC under
 * the password hash, so nothing is stored and a new password voids it.
 */
export function makeDevice({ stored }: Credential): string {
  const id = randomBytes(16).toString('base64url')
  return `${id}.${proof(id, stored)}`
}

/** Returns the id in a device cookie if it is valid for the account of a login, otherwise null. */
export async function knownDevice(
  database: Database,
  login: string,
  cookie: string,
): Promise<string | null> {
  const [, id = '', signature = ''] = /^([\w-]{22})\.([\w-]{43})$/.exec(cookie) ?? []
  const stored = id === '' ? null : await storedPassword(database, login)
  return stored && isSameText(signature, proof(id, stored)) ? id : null
}

function proof(id: string, stored: string): string {
  return createHmac('sha256', stored).update(`plimsoll device ${id}`).digest('base64url')
}
