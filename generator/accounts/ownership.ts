import { type Issue, issue, Refusal, refuse } from '../../core/error/error.ts'
import { latest, timestamp } from '../../core/timestamp.ts'
import type { Database } from '../database/connection.ts'
import { all, first, type Queries, run, upsert } from '../database/statement.ts'
import { addEvent, type Change, makeChange, type Permitted, userIdOf } from '../records/change.ts'
import { type Records, tellFollowers } from '../records/crate-change.ts'
import type { CrateRecord } from '../records/crates.ts'
import { GROUP, groupsOwning, type OwnerRef } from '../records/groups.ts'
import {
  addOwner,
  canAct,
  isDirectOwner,
  removeOwner,
  requireOwner,
  userOf,
} from '../records/owners.ts'
import { type Account, acting, findUser, type LoginRules } from './accounts.ts'
import { resolveGroup } from './groups.ts'

/** The logins in a request: who is an owner now, or none, who is invited, and who was so already. */
export type OwnerChange = Readonly<Record<Outcome, readonly string[]>>
type Outcome = 'changed' | 'invited' | 'unchanged'

/** What changes of owners need: the records, and which logins count. */
export type OwnerRecords = Records & { readonly settings: LoginRules }

/**
 * A user or group whose ownership changes; `as` says that an administrator who is no owner changes
 * it.
 */
interface Subject {
  readonly owner: OwnerRef
  readonly login: string
  readonly as?: 'administrator' | undefined
}

/** Changes the owners of a crate for all logins; if one is refused, changes nothing. */
type OwnerWork = (
  records: OwnerRecords,
  crate: CrateRecord,
  logins: readonly string[],
  change: Change,
) => Promise<OwnerChange>

/** Makes users and groups owners without an invitation. The refusal lists all unknown logins. */
export const addOwners: OwnerWork = (records, crate, logins, change) =>
  eachOwner(records, crate, logins, change, async (tx, by, subject) => {
    const outcome = await insertOwner(tx, records, crate, subject, userIdOf(by), by)
    if (outcome === 'changed' && 'user' in subject.owner)
      await withdrawInvitation(tx, crate.id, subject.owner.user)
    return outcome
  })

/** Changes nothing for who is an owner already. */
async function insertOwner(
  tx: Queries,
  { followers }: Records,
  crate: CrateRecord,
  { owner, login, as }: Subject,
  addedBy: number | null,
  change: Permitted,
): Promise<Outcome> {
  if (!(await addOwner(tx, crate.id, owner, change.at, addedBy))) return 'unchanged'
  const event = { action: 'owner-add', crate: crate.name, detail: { login, as } }
  const generation = await addEvent(tx, change, event)
  const told = [{ type: 'crate.owners', added: login } as const]
  const edit = { crate, owner: userOf(owner), told, by: change, generation }
  await tellFollowers(tx, followers, edit)
  return 'changed'
}

/** Invites users to become owners, or renews their invitations; groups become owners at once. */
export const inviteOwners: OwnerWork = (records, crate, logins, change) =>
  eachOwner(records, crate, logins, change, async (tx, by, subject) => {
    const { owner, login, as } = subject
    if ('group' in owner) return insertOwner(tx, records, crate, subject, userIdOf(by), by)
    if (await isDirectOwner(tx, crate.id, owner.user)) return 'unchanged'
    const who = { user_id: owner.user, invited_by: userIdOf(by) }
    const row = { crate_id: crate.id, invited_at: by.at, ...who }
    await upsert(tx, 'invitations', ['crate_id', 'user_id'], row)
    await addEvent(tx, by, { action: 'owner-invite', crate: crate.name, detail: { login, as } })
    return 'invited'
  })

/** Removes owners and withdraws invitations. Refuses to leave nobody who could act as an owner. */
export const removeOwners: OwnerWork = (records, crate, logins, change) =>
  eachOwner(records, crate, logins, change, async (tx, by, { owner, login, as }) => {
    const isOwner = await removeOwner(tx, crate.id, owner)
    const user = userOf(owner)
    const isInvited = user !== null && (await withdrawInvitation(tx, crate.id, user))
    if (!isOwner && !isInvited) refuse('owner_unknown', { name: crate.name, login })
    const may = acting(records.settings, new Date(by.at))
    if (isOwner && !(await canAct(tx, crate.id, may, by.at)))
      refuse('owner_last', { name: crate.name })
    const action = isOwner ? 'owner-remove' : 'invitation-withdraw'
    const event = { action, crate: crate.name, detail: { login, as } }
    const generation = await addEvent(tx, by, event)
    const told = isOwner ? [{ type: 'crate.owners', removed: login } as const] : []
    await tellFollowers(tx, records.followers, { crate, owner: user, told, by, generation })
    return 'changed'
  })

async function eachOwner(
  { database, settings }: OwnerRecords,
  crate: CrateRecord,
  logins: readonly string[],
  change: Change,
  work: (tx: Queries, by: Permitted, subject: Subject) => Promise<Outcome>,
): Promise<OwnerChange> {
  return makeChange(database, change, 'user', async (tx, by) => {
    const right = await requireOwner(tx, crate, by)
    const as = right === 'administrator' ? right : undefined
    // The request may name one user in several spellings of the login.
    const subjects = new Map<string, Subject>()
    const unknown: Issue[] = []
    for (const login of logins) {
      const subject = await findSubject(tx, crate, login, settings)
      if ('code' in subject) unknown.push(subject)
      else subjects.set(subject.login, { ...subject, as })
    }
    const [first, ...others] = unknown
    if (first) throw new Refusal([first, ...others])
    const done: Record<Outcome, string[]> = { changed: [], invited: [], unchanged: [] }
    for (const subject of subjects.values()) done[await work(tx, by, subject)].push(subject.login)
    return done
  })
}

async function findSubject(
  tx: Queries,
  crate: CrateRecord,
  login: string,
  { oidc }: LoginRules,
): Promise<Subject | Issue> {
  if (login.startsWith(GROUP)) {
    // An owner is found as it is written, also if nobody has the group any more.
    const own = (await groupsOwning(tx, crate.id)).find(group => group.login === login)
    const group = own ?? (await resolveGroup(tx, login.slice(GROUP.length), oidc))
    return { owner: { group: group.id }, login: group.login }
  }
  const user = await findUser(tx, login)
  if (user && !user.removed) return { owner: { user: user.id }, login: user.login }
  return issue('owner_no_user', { login, name: crate.name })
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
      const subject = { owner: { user: user.id }, login: user.login }
      await insertOwner(tx, records, crate, subject, invitation.invited_by, by)
      return
    }
    const detail = { login: user.login }
    await addEvent(tx, by, { action: 'invitation-decline', crate: crate.name, detail })
  })
}
