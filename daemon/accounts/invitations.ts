import {
  addEvent,
  type Change,
  type Database,
  markCratePage,
  refuse,
  timestamp,
} from '../../generator/index.ts'

/** An invitation to own a crate, as the invited see it. */
export interface InvitationRecord {
  readonly crate: string
  /** Login of who invited; null when that was the operator. */
  readonly by: string | null
  readonly at: string
  readonly expires: string
}

/** What decides whether an invitation is still good. */
export interface InvitationTime {
  readonly now: Date
  /** So many seconds after it was made, or renewed, it is not. */
  readonly seconds: number
}

/** The invitations of a user that are good, the latest first. */
export async function listInvitations(
  database: Database,
  userId: number,
  time: InvitationTime,
): Promise<InvitationRecord[]> {
  const rows = await database
    .selectFrom('invitations')
    .innerJoin('crates', 'crates.id', 'invitations.crate_id')
    .leftJoin('users', 'users.id', 'invitations.invited_by')
    .select(['crates.name as crate', 'users.login as by', 'invitations.invited_at as at'])
    .where('invitations.user_id', '=', userId)
    .where('invitations.invited_at', '>', madeAfter(time))
    .orderBy('invitations.invited_at', 'desc')
    .orderBy('crates.name')
    .execute()
  return rows.map(row => ({ ...row, expires: expiry(row.at, time) }))
}

/** Somebody who is invited to own a crate, as its owners see it. */
export type InvitedRecord = Omit<InvitationRecord, 'crate'> & { readonly login: string }

/** Who is invited to own a crate and has not answered, while that is good; the latest first. */
export async function listInvited(
  database: Database,
  crateId: number,
  time: InvitationTime,
): Promise<InvitedRecord[]> {
  const rows = await database
    .selectFrom('invitations')
    .innerJoin('users', 'users.id', 'invitations.user_id')
    .leftJoin('users as inviters', 'inviters.id', 'invitations.invited_by')
    .select(['users.login', 'inviters.login as by', 'invitations.invited_at as at'])
    .where('invitations.crate_id', '=', crateId)
    .where('invitations.invited_at', '>', madeAfter(time))
    .orderBy('invitations.invited_at', 'desc')
    .orderBy('users.id', 'desc')
    .execute()
  return rows.map(row => ({ ...row, expires: expiry(row.at, time) }))
}

/** Accepts or declines an invitation. Refuses one that has expired, was withdrawn or never made. */
export async function answerInvitation(
  database: Database,
  crate: { readonly id: number; readonly name: string },
  user: { readonly id: number; readonly login: string },
  isAccepted: boolean,
  change: Change,
  time: InvitationTime,
): Promise<void> {
  await database.transaction().execute(async tx => {
    const invitation = await tx
      .deleteFrom('invitations')
      .where('crate_id', '=', crate.id)
      .where('user_id', '=', user.id)
      .where('invited_at', '>', madeAfter(time))
      .returning('invited_by')
      .executeTakeFirst()
    if (!invitation) return refuse('invitation_unknown', { name: crate.name })
    const detail = { login: user.login }
    if (!isAccepted) {
      await addEvent(tx, change, { action: 'invitation-decline', crate: crate.name, detail })
      return
    }
    await tx
      .insertInto('owners')
      .values({
        crate_id: crate.id,
        user_id: user.id,
        added_at: change.at,
        added_by: invitation.invited_by,
      })
      .onConflict(conflict => conflict.doNothing())
      .execute()
    await markCratePage(
      tx,
      crate.id,
      await addEvent(tx, change, { action: 'owner-add', crate: crate.name, detail }),
    )
  })
}

function madeAfter({ now, seconds }: InvitationTime): string {
  return timestamp(new Date(now.getTime() - seconds * 1000))
}

function expiry(at: string, { seconds }: InvitationTime): string {
  return timestamp(new Date(Date.parse(at) + seconds * 1000))
}
