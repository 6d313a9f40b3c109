import { addEvent, type Change, type Database, refuse, timestamp } from '../../generator/index.ts'
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
  time: InvitationTime,
): Promise<InvitationRecord[]> {
  const [column, id] =
    'userId' in of
      ? (['invitations.user_id', of.userId] as const)
      : (['invitations.crate_id', of.crateId] as const)
  const rows = await database
    .selectFrom('invitations')
    .innerJoin('crates', 'crates.id', 'invitations.crate_id')
    .innerJoin('users', 'users.id', 'invitations.user_id')
    .leftJoin('users as inviters', 'inviters.id', 'invitations.invited_by')
    .select(['crates.name as crate', 'users.login', 'inviters.login as by'])
    .select('invitations.invited_at as at')
    .where(column, '=', id)
    .where('invitations.invited_at', '>', madeAfter(time))
    .orderBy('invitations.invited_at', 'desc')
    .orderBy('crates.name')
    .orderBy('users.id', 'desc')
    .execute()
  return rows.map(row => {
    const expires = timestamp(new Date(Date.parse(row.at) + time.seconds * 1000))
    return { ...row, by: row.by ?? 'the operator', expires }
  })
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
    if (isAccepted) await insertOwner(tx, crate, user, invitation.invited_by, change)
    else {
      const detail = { login: user.login }
      await addEvent(tx, change, { action: 'invitation-decline', crate: crate.name, detail })
    }
  })
}

function madeAfter({ now, seconds }: InvitationTime): string {
  return timestamp(new Date(now.getTime() - seconds * 1000))
}
