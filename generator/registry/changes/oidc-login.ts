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
import { type Queries, run } from '../../database/statement.ts'
import { addEvent, type Change, makeChange, type Permitted } from '../../records/change.ts'
import type { Records } from '../../records/crate-change.ts'
import { groupsOf, loginEnd, setGroups } from '../../records/groups.ts'
import { nameUser } from './users.ts'

/** A login whose groups were too many to be told keeps those of before. */
export interface RecordedLogin {
  readonly user: Account
  readonly isOverage: boolean
}

function identityOf({ issuer, subject }: OidcPerson): Identity {
  return { issuer: issuer.issuer, subject }
}

/**
 * Records that somebody has logged in at an issuer: makes their account if it is their first login
 * and the issuer provisions, and takes over their groups and their name. Refuses who is locked
 * here, in none of the allowed groups, or without an account that nobody makes.
 */
export function recordLogin(
  records: Records,
  person: OidcPerson,
  change: Change,
): Promise<RecordedLogin> {
  return makeChange(records.database, change, 'anybody', async (tx, stranger) => {
    const identity = identityOf(person)
    const found = await findIdentity(tx, identity)
    if (found?.locked) refuse('oidc_locked')
    const groups = await effectiveGroups(tx, found?.id ?? null, person)
    if (found) {
      const by = { ...stranger, actor: found.login }
      await takeOver(tx, records, person, groups, found, by)
      return { user: found, isOverage: person.groups === null }
    }
    if (!person.issuer.provision) {
      const { issuer, subject } = person
      refuse('oidc_no_account', { issuer: issuer.name, subject })
    }
    const login = await chooseLogin(tx, person.logins)
    const by = { ...stranger, actor: login }
    const user = await insertUser(tx, { login, admin: false }, by)
    await insertIdentity(tx, user, { ...identity, loggedIn: null }, by)
    await takeOver(tx, records, person, groups, user, by)
    return { user, isOverage: person.groups === null }
  })
}

/** Links the account of somebody who is logged in to where they have just logged in, too. */
export function linkLogin(
  records: Records,
  person: OidcPerson,
  user: Account,
  change: Change,
): Promise<void> {
  return makeChange(records.database, change, { user: user.id }, async (tx, by) => {
    const identity = identityOf(person)
    const groups = await effectiveGroups(tx, user.id, person)
    const found = await findIdentity(tx, identity)
    if (found?.id !== user.id) {
      const { login } = await requireUser(tx, user.login)
      await insertIdentity(tx, { id: user.id, login }, { ...identity, loggedIn: null }, by)
    }
    await takeOver(tx, records, person, groups, user, by)
  })
}

/** Returns the groups that count: those of before where the claims could not say all. */
async function effectiveGroups(
  tx: Queries,
  user: number | null,
  { issuer, groups: told }: OidcPerson,
): Promise<readonly string[]> {
  const before = user === null ? null : (await groupsOf(tx, user)).get(issuer.issuer)
  const groups = told ?? before ?? []
  const { allowed_groups: allowed } = issuer
  if (allowed.length > 0 && !allowed.some(group => groups.includes(group)))
    refuse('oidc_not_allowed')
  return groups
}

/** Takes over what the claims say of an account. */
async function takeOver(
  tx: Queries,
  records: Records,
  { issuer, subject, groups: told, name }: OidcPerson,
  groups: readonly string[],
  user: Account,
  by: Permitted,
): Promise<void> {
  const { issuer: url, admin_groups: admins, token_days: days } = issuer
  const seen = 'UPDATE identities SET logged_in_at = ? WHERE issuer = ? AND subject = ?'
  await run(tx, seen, by.at, url, subject)
  const before = (await groupsOf(tx, user.id)).get(url) ?? []
  await setGroups(tx, user.id, url, groups, loginEnd(days, new Date(by.at)))
  if (told === null)
    await addEvent(tx, by, { action: 'group-overage', detail: { login: user.login } })
  const added = groups.filter(group => !before.includes(group))
  const removed = before.filter(group => !groups.includes(group))
  if (added.length + removed.length > 0) {
    const detail = { login: user.login, added: added.slice(0, 50), removed: removed.slice(0, 50) }
    await addEvent(tx, by, { action: 'group-claims', detail })
  }
  if (admins.length > 0)
    await follow(
      tx,
      user,
      admins.some(each => groups.includes(each)),
      by,
    )
  if (name !== null) await nameUser(tx, records, user, name, by)
}

/** Has administrators follow their group; the last one stays, who lets others in. */
async function follow(
  tx: Queries,
  { id, login }: Account,
  admin: boolean,
  by: Permitted,
): Promise<void> {
  const sql = 'UPDATE users SET admin = ? WHERE id = ? AND admin <> ?'
  if ((await run(tx, sql, Number(admin), id, Number(admin))) === 0) return
  if (!admin && (await lacksAdministrator(tx))) {
    await run(tx, 'UPDATE users SET admin = 1 WHERE id = ?', id)
    return
  }
  await addEvent(tx, by, { action: admin ? 'user-promote' : 'user-demote', detail: { login } })
}
