import { type Issue, issue, Refusal, refuse } from '../../core/error/error.ts'
import { latest, timestamp } from '../../core/timestamp.ts'
import type { Database } from '../database/connection.ts'
import { all, first, type Queries, run, upsert } from '../database/statement.ts'
import { addEvent, type Change, makeChange, type Permitted, userIdOf } from '../records/change.ts'
import { type Records, tellFollowers } from '../records/crate-change.ts'
import type { CrateRecord } from '../records/crates.ts'
import { addOwner, isOwner, listOwners, removeOwner, requireOwner } from '../records/owners.ts'
import { type Account, findUser, type User } from './accounts.ts'

/** The logins in a request, by whether anything changed for them. */
export interface OwnerChange {
  readonly changed: readonly string[]
  /** Logins of users who were in the requested state already. */
  readonly unchanged: readonly string[]
}

/** A user whose ownership changes; `as` says that an administrator who is no owner changes it. */
type ChangedUser = Pick<User, 'id' | 'login'> & { readonly as?: 'administrator' | undefined }

/** Changes the owners of a crate for all logins; if one is refused, changes nothing. */
type OwnerWork = (
  records: Records,
  crate: CrateRecord,
  logins: readonly string[],
  change: Change,
) => Promise<OwnerChange>

/** Makes users owners without an invitation. The refusal lists all unknown logins. */
export const addOwners: OwnerWork = (records, crate, logins, change) =>
  eachUser(records, crate, logins, change, async (tx, by, user) => {
    if (!(await insertOwner(tx, records, crate, user, userIdOf(by), by))) return false
    await withdrawInvitation(tx, crate.id, user.id)
    return true
  })

/** Returns false, and changes nothing, for who is an owner already. */
async function insertOwner(
  tx: Queries,
  { followers }: Records,
  crate: CrateRecord,
  { id, login, as }: ChangedUser,
  addedBy: number | null,
  change: Permitted,
): Promise<boolean> {
  if (!(await addOwner(tx, crate.id, { user: id }, change.at, addedBy))) return false
  const event = { action: 'owner-add', crate: crate.name, detail: { login, as } }
  const generation = await addEvent(tx, change, event)
  await tellFollowers(tx, followers, { crate, owner: id, by: change, generation })
  return true
}

/** Invites users to become owners, or renews their invitations. */
export const inviteOwners: OwnerWork = (records, crate, logins, change) =>
  eachUser(records, crate, logins, change, async (tx, by, { id, login, as }) => {
    if (await isOwner(tx, crate.id, id)) return false
    const row = { crate_id: crate.id, user_id: id, invited_at: by.at, invited_by: userIdOf(by) }
    await upsert(tx, 'invitations', ['crate_id', 'user_id'], row)
    await addEvent(tx, by, { action: 'owner-invite', crate: crate.name, detail: { login, as } })
    return true
  })

/** Removes owners and withdraws invitations. Refuses to remove the last owner. */
export const removeOwners: OwnerWork = (records, crate, logins, change) =>
  eachUser(records, crate, logins, change, async (tx, by, { id, login, as }) => {
    const isOwner = await removeOwner(tx, crate.id, { user: id })
    const isInvited = await withdrawInvitation(tx, crate.id, id)
    if (!isOwner && !isInvited) refuse('owner_unknown', { name: crate.name, login })
    if (isOwner && (await listOwners(tx, crate.id)).length === 0)
      refuse('owner_last', { name: crate.name })
    const action = isOwner ? 'owner-remove' : 'invitation-withdraw'
    const event = { action, crate: crate.name, detail: { login, as } }
    const generation = await addEvent(tx, by, event)
    await tellFollowers(tx, records.followers, { crate, owner: id, by, generation })
    return true
  })

async function eachUser(
  { database }: Records,
  crate: CrateRecord,
  logins: readonly string[],
  change: Change,
  work: (tx: Queries, by: Permitted, user: ChangedUser) => Promise<boolean>,
): Promise<OwnerChange> {
  return makeChange(database, change, 'user', async (tx, by) => {
    const right = await requireOwner(tx, crate, by)
    const as = right === 'administrator' ? right : undefined
    // The request may name one user in several spellings of the login.
    const users = new Map<number, ChangedUser>()
    const unknown: Issue[] = []
    for (const login of logins) {
      const user = await findUser(tx, login)
      if (user && !user.removed) users.set(user.id, { ...user, as })
      else unknown.push(issue('owner_no_user', { login, name: crate.name }))
    }
    const [first, ...others] = unknown
    if (first) throw new Refusal([first, ...others])
    const [changed, unchanged]: [string[], string[]] = [[], []]
    for (const user of users.values())
      ((await work(tx, by, user)) ? changed : unchanged).push(user.login)
    return { changed, unchanged }
  })
}

async function withdrawInvitation(tx: Queries, crateId: number, userId: number): Promise<boolean> {
  const sql = 'DELETE FROM invitations WHERE crate_id = ? AND user_id = ?'
  return (await run(tx, sql, crateId, userId)) > 0
}

export interface InvitationRecord {
  readonly crate: string
  readonly login: string
  /** Login of the inviting user, or `the operator`. */
  readonly by: string
  readonly at: string
  readonly expires: string
}

/** The data that decides whether an invitation is still valid. */
export interface InvitationTime {
  readonly now: Date
  /** An invitation expires this many seconds after it was created or renewed. */
  readonly seconds: number
}

/** Lists the open invitations of a user, or to a crate, that are valid; the latest first. */
export async function listInvitations(
  database: Database,
  of: { readonly userId: number } | { readonly crateId: number },
  { now, seconds }: InvitationTime,
): Promise<InvitationRecord[]> {
  const [column, id] = 'userId' in of ? ['user_id', of.userId] : ['crate_id', of.crateId]
  const sql = `SELECT crates.name AS crate, users.login,
      coalesce(inviters.login, 'the operator') AS "by", invited_at AS at
    FROM invitations JOIN crates ON crates.id = crate_id JOIN users ON users.id = user_id
      LEFT JOIN users AS inviters ON inviters.id = invited_by
    WHERE ${column} = ? AND invited_at > ? AND invited_at <= ?
    ORDER BY invited_at DESC, crates.name, users.id DESC`
  type Row = Omit<InvitationRecord, 'expires'>
  const rows = await all<Row>(database, sql, id, timestamp(now, -seconds), latest(now))
  return rows.map(row => ({ ...row, expires: timestamp(new Date(row.at), seconds) }))
}

/** Accepts or declines an invitation. Refuses an unknown, expired or withdrawn invitation. */
export async function answerInvitation(
  records: Records,
  crate: CrateRecord,
  user: Account,
  isAccepted: boolean,
  change: Change,
  { now, seconds }: InvitationTime,
): Promise<void> {
  await makeChange(records.database, change, { user: user.id }, async (tx, by) => {
    const sql = `DELETE FROM invitations WHERE crate_id = ? AND user_id = ? AND invited_at > ?
      AND invited_at <= ? RETURNING invited_by`
    const parameters = [crate.id, user.id, timestamp(now, -seconds), latest(now)]
    const invitation = await first<{ invited_by: number | null }>(tx, sql, ...parameters)
    if (!invitation) return refuse('invitation_unknown', { name: crate.name })
    if (isAccepted) {
      await insertOwner(tx, records, crate, user, invitation.invited_by, by)
      return
    }
    const detail = { login: user.login }
    await addEvent(tx, by, { action: 'invitation-decline', crate: crate.name, detail })
  })
}
