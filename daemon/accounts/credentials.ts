import {
  addEvent,
  type Change,
  type Database,
  type Registry,
  refuse,
  refuseErrors,
  timestamp,
} from '../../generator/index.ts'
import { type Account, findUser, type User } from './accounts.ts'
import { type LoginPriority, TOP_PRIORITY } from './hashing-queue.ts'
import { costOf, hashPassword, isOutdated, isPassword, passwordIssues } from './password.ts'
import { hashSecret, makeSecret } from './secret.ts'

/** How long a one-time link is good. */
const LINK_HOURS = 24

/** The user of a login and a password; null if wrong or locked. Takes equally long either way. */
export async function checkPassword(
  database: Database,
  {
    login,
    password,
    priority,
  }: { readonly login: string; readonly password: string; readonly priority: LoginPriority },
  cost: number,
): Promise<User | null> {
  const row = await database
    .selectFrom('users')
    .select(['id', 'password'])
    .where('canonical', '=', login.toLowerCase())
    .executeTakeFirst()
  const stored = row?.password ?? null
  const effort = Math.max(cost, await highestCost(database))
  if (!(await isPassword(password, stored, effort, priority)) || !row || stored === null)
    return null
  if (isOutdated(stored, cost)) {
    const renewed = await hashPassword(password, cost, TOP_PRIORITY)
    // Not over a password that was changed meanwhile.
    await database
      .updateTable('users')
      .set({ password: renewed })
      .where('id', '=', row.id)
      .where('password', '=', stored)
      .execute()
  }
  const user = await findUser(database, login)
  return user && !user.locked ? user : null
}

/** Of all stored passwords: those from before the setting was lowered cost more. */
async function highestCost(database: Database): Promise<number> {
  // Costs have two digits, so that texts are in the order of their numbers.
  const query = database.selectFrom('users').select(eb => eb.fn.max('password').as('highest'))
  const { highest } = await query.executeTakeFirstOrThrow()
  return highest === null ? 0 : costOf(highest)
}

/**
 * Sets a password, ends all sessions of the user and voids unused links: the old password may be
 * known to others. Refuses a weak one.
 */
export async function setPassword(
  database: Database,
  user: Pick<Account, 'id' | 'login'>,
  { password, cost }: { readonly password: string; readonly cost: number },
  change: Change,
): Promise<void> {
  refuseErrors(passwordIssues(password, user.login))
  const stored = await hashPassword(password, cost, TOP_PRIORITY)
  await database.transaction().execute(tx => storePassword(tx, user, stored, change))
}

/** A new one-time link's secret for a user; earlier ones become worthless. */
export async function makeLink(
  database: Database,
  user: User,
  now: Date,
  change: Change,
): Promise<string> {
  if (user.locked) refuse('user_locked', { login: user.login })
  const secret = makeSecret()
  const expires = timestamp(new Date(now.getTime() + LINK_HOURS * 3_600_000))
  await database.transaction().execute(async tx => {
    await tx.deleteFrom('password_links').where('user_id', '=', user.id).execute()
    await tx
      .insertInto('password_links')
      .values({ hash: hashSecret(secret), user_id: user.id, expires_at: expires })
      .execute()
    await addEvent(tx, change, { action: 'password-link', detail: { login: user.login } })
  })
  return secret
}

/** The address of a one-time link. */
export function passwordLink({ base }: Registry['urls'], secret: string): string {
  return `${base}/me/password?link=${secret}`
}

/** Whose link it is; null when it was used, has expired or never was one. */
export async function linkOwner(
  database: Database,
  secret: string,
  now: Date,
): Promise<Account | null> {
  const row = await database
    .selectFrom('password_links')
    .innerJoin('users', 'users.id', 'password_links.user_id')
    .select(['users.id', 'users.login', 'users.admin', 'password_links.expires_at'])
    .where('password_links.hash', '=', hashSecret(secret))
    .where('users.locked_at', 'is', null)
    .executeTakeFirst()
  if (!row || Date.parse(row.expires_at) <= now.getTime()) return null
  return { id: row.id, login: row.login, admin: row.admin === 1 }
}

/** Sets a password by a one-time link; a refusal does not use the link up. */
export async function redeemLink(
  database: Database,
  secret: string,
  { password, cost, now }: { readonly password: string; readonly cost: number; readonly now: Date },
  changeOf: (user: Account) => Change,
): Promise<Account> {
  const user = (await linkOwner(database, secret, now)) ?? refuse('link_invalid')
  refuseErrors(passwordIssues(password, user.login))
  const stored = await hashPassword(password, cost, TOP_PRIORITY)
  await database.transaction().execute(async tx => {
    const used = await tx
      .deleteFrom('password_links')
      .where('hash', '=', hashSecret(secret))
      .executeTakeFirst()
    if (used.numDeletedRows === 0n) refuse('link_invalid')
    await storePassword(tx, user, stored, changeOf(user))
  })
  return user
}

async function storePassword(
  tx: Database,
  user: Pick<Account, 'id' | 'login'>,
  stored: string,
  change: Change,
): Promise<void> {
  await tx.updateTable('users').set({ password: stored }).where('id', '=', user.id).execute()
  await tx.deleteFrom('password_links').where('user_id', '=', user.id).execute()
  await tx.deleteFrom('sessions').where('user_id', '=', user.id).execute()
  await addEvent(tx, change, { action: 'password-change', detail: { login: user.login } })
}
