import {
  addEvent,
  all,
  type Change,
  type CrateRecord,
  type Database,
  first,
  refuse,
  timestamp,
} from '../../generator/index.ts'
import type { Account } from './accounts.ts'
import { insertOwner } from './ownership.ts'

/** An invitation to own a crate. */
export interface InvitationRecord {
  readonly crate: string
  /** Login of who is invited. */
  readonly login: string
  /** Login of who invited, or `the operator`. */
  readonly by: string
  readonly at: string
  readonly expires: string
}

/** What decides whether an invitation is still good. */
export interface InvitationTime {
  readonly now: Date
  /** So many seconds after it was made, or renewed, it is not. */
  readonly seconds: number
}

/** The invitations of a user, or to a crate, that are good and not answered; the latest first. */
export async function listInvitations(
  database: Database,
  of: { readonly userId: number } | { readonly crateId: number },
  { now, seconds }: InvitationTime,
): Promise<InvitationRecord[]> {
  const [column, id] = 'userId' in of ? ['user_id', of.userId] : ['crate_id', of.crateId]
  const sql = `SELECT crates.name AS crate, users.login,
      ifnull(inviters.login, 'the operator') AS "by", invited_at AS at
    FROM invitations JOIN crates ON crates.id = crate_id JOIN users ON users.id = user_id
      LEFT JOIN users AS inviters ON inviters.id = invited_by
    WHERE ${column} = ? AND invited_at > ?
    ORDER BY invited_at DESC, crates.name, users.id DESC`
  type Row = Omit<InvitationRecord, 'expires'>
  const rows = await all<Row>(database, sql, id, timestamp(now, -seconds))
  return rows.map(row => ({ ...row, expires: timestamp(new Date(row.at), seconds) }))
}

/** Accepts or declines an invitation. Refuses one that has expired, was withdrawn or never made. */
export async function answerInvitation(
  database: Database,
  crate: CrateRecord,
  user: Account,
  isAccepted: boolean,
  change: Change,
  { now, seconds }: InvitationTime,
): Promise<void> {
  await database.transaction().execute(async tx => {
    const sql = `DELETE FROM invitations WHERE crate_id = ? AND user_id = ? AND invited_at > ?
      RETURNING invited_by`
    const given = [crate.id, user.id, timestamp(now, -seconds)]
    const invitation = await first<{ invited_by: number | null }>(tx, sql, ...given)
    if (!invitation) return refuse('invitation_unknown', { name: crate.name })
    if (isAccepted) return insertOwner(tx, crate, user, invitation.invited_by, change)
    const detail = { login: user.login }
    await addEvent(tx, change, { action: 'invitation-decline', crate: crate.name, detail })
  })
}
