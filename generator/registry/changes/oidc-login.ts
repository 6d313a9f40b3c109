import { refuse } from '../../../core/error/error.ts'
import {
  type Account,
  insertUser,
  lacksAdministrator,
  requireUser,
} from '../../accounts/accounts.ts'
import {
  findIdentity,
  type Identity,
  insertIdentity,
  type OidcPerson,
} from '../../accounts/oidc-identities.ts'
import { chooseLogin } from '../../accounts/oidc-name.ts'
import type { OwnerRecords } from '../../accounts/ownership.ts'
import { type Queries, run } from '../../database/statement.ts'
import { addEvent, type Change, makeChange, type Permitted } from '../../records/change.ts'
import { groupsOf, loginEnd, setGroups } from '../../records/groups.ts'
import { nameUser } from './users.ts'

function identityOf({ issuer, subject }: OidcPerson): Identity {
  return { issuer: issuer.issuer, subject }
}

/**
 * Records that somebody has logged in at an issuer: makes their account if it is their first login
 * and the issuer provisions, and takes over their groups and their name. Refuses who is locked
 * here, or without an account that nobody makes, and who is in none of the allowed groups: then the
 * last login counts no longer, either. Groups that are too many to be told stay as they were.
 */
export async function recordLogin(
  records: OwnerRecords,
  person: OidcPerson,
  change: Change,
): Promise<Account> {
  const user = await makeChange(records.database, change, 'anybody', async (tx, stranger) => {
    const identity = identityOf(person)
    const { issuer, subject, logins } = person
    const account = await findIdentity(tx, identity)
    if (account?.locked) refuse('oidc_locked')
    const groups = await countingGroups(tx, account?.id ?? 0, person)
    if (!account && !groups.isAllowed) return null
    if (!account && !issuer.provision) refuse('oidc_no_account', { issuer: issuer.name, subject })
    const login = account?.login ?? (await chooseLogin(tx, logins))
    const by = { ...stranger, actor: login }
    const user = account ?? (await insertUser(tx, { login, admin: false }, by))
    if (!account) await insertIdentity(tx, user, identity, by)
    await takeOver(tx, records, person, groups, user, by)
    return groups.isAllowed ? user : null
  })
  // Only now, so that what has ended is recorded.
  return user ?? refuse('oidc_not_allowed')
}

/** Links the account of somebody who is logged in to where they have just logged in, too. */
export function linkLogin(
  records: OwnerRecords,
  person: OidcPerson,
  { id, login }: Account,
  change: Change,
): Promise<void> {
  return makeChange(records.database, change, { user: id }, async (tx, by) => {
    const identity = identityOf(person)
    const groups = await countingGroups(tx, id, person)
    if (!groups.isAllowed) refuse('oidc_not_allowed')
    const user = await requireUser(tx, login)
    if ((await findIdentity(tx, identity))?.id !== id) await insertIdentity(tx, user, identity, by)
    await takeOver(tx, records, person, groups, user, by)
  })
}

/** Groups at an issuer, before a login and by it, and whether they let somebody in. */
interface Groups extends Readonly<Record<'before' | 'now', readonly string[]>> {
  readonly isAllowed: boolean
}

/**
 * Returns the groups that count: those of before where the claims could not say all, and none for
 * somebody who may not log in.
 */
async function countingGroups(
  tx: Queries,
  user: number,
  { issuer: { issuer, allowed_groups: allowed }, groups }: OidcPerson,
): Promise<Groups> {
  const before = (await groupsOf(tx, user)).get(issuer) ?? []
  const now = groups ?? before
  const isAllowed = allowed.length === 0 || allowed.some(group => now.includes(group))
  return { before, now: isAllowed ? now : [], isAllowed }
}

async function takeOver(
  tx: Queries,
  records: OwnerRecords,
  { issuer, subject, groups: told, name }: OidcPerson,
  { before, now, isAllowed }: Groups,
  user: Account,
  by: Permitted,
): Promise<void> {
  const { issuer: url, admin_groups: admins, token_days: days } = issuer
  const { login } = user
  const seen = 'UPDATE identities SET logged_in_at = ? WHERE issuer = ? AND subject = ?'
  await run(tx, seen, isAllowed ? by.at : null, url, subject)
  await setGroups(tx, user.id, url, now, loginEnd(days, new Date(by.at)))
  if (told === null) await addEvent(tx, by, { action: 'group-overage', detail: { login } })
  const added = now.filter(group => !before.includes(group)).slice(0, 50)
  const removed = before.filter(group => !now.includes(group)).slice(0, 50)
  if (added.length + removed.length > 0)
    await addEvent(tx, by, { action: 'group-claims', detail: { login, added, removed } })
  const isAdmin = admins.some(each => now.includes(each))
  if (admins.length > 0) await follow(tx, records, user, isAdmin, by)
  if (name !== null) await nameUser(tx, records, user, name, by)
}

/** Has administrators follow their group; the last one stays, who lets others in. */
async function follow(
  tx: Queries,
  { settings }: OwnerRecords,
  { id, login }: Account,
  admin: boolean,
  by: Permitted,
): Promise<void> {
  const sql = 'UPDATE users SET admin = ? WHERE id = ? AND admin <> ?'
  if ((await run(tx, sql, Number(admin), id, Number(admin))) === 0) return
  if (!admin && (await lacksAdministrator(tx, settings, new Date(by.at)))) {
    await run(tx, 'UPDATE users SET admin = 1 WHERE id = ?', id)
    return
  }
  await addEvent(tx, by, { action: admin ? 'user-promote' : 'user-demote', detail: { login } })
}
