import { addEvent, type Change, type Database, markCratePage, refuse } from '../generator/index.ts'

/** An invitation to own a crate, as the invited see it. */
export interface InvitationRecord {
  readonly crate: string
  /** Login of who invited; null when that was the operator. */
  readonly by: string | null
  readonly at: string
}

/** The invitations of a user, the latest first. */
export async function listInvitations(database: Database, userId: number): Promise<InvitationRecord[]> {
  return database
    .selectFrom('invitations')
    .innerJoin('crates', 'crates.id', 'invitations.crate_id')
    .leftJoin('users', 'users.id', 'invitations.invited_by')
    .select(['crates.name as crate', 'users.login as by', 'invitations.invited_at as at'])
    .where('invitations.user_id', '=', userId)
    .orderBy('invitations.invited_at', 'desc')
    .orderBy('crates.name')
    .execute()
}

/** Who is invited to own a crate and has not answered, as its owners see it; the latest first. */
export async function listInvited(
  database: Database,
  crateId: number,
): Promise<{ readonly login: string; readonly by: string | null; readonly at: string }[]> {
  return database
    .selectFrom('invitations')
    .innerJoin('users', 'users.id', 'invitations.user_id')
    .leftJoin('users as inviters', 'inviters.id', 'invitations.invited_by')
    .select(['users.login', 'inviters.login as by', 'invitations.invited_at as at'])
    .where('invitations.crate_id', '=', crateId)
    .orderBy('invitations.invited_at', 'desc')
    .orderBy('users.id', 'desc')
    .execute()
}

/** Accepts or declines an invitation. Refuses one that was withdrawn or never made. */
export async function answerInvitation(
  database: Database,
  crate: { readonly id: number; readonly name: string },
  user: { readonly id: number; readonly login: string },
  isAccepted: boolean,
  change: Change,
): Promise<void> {
  await database.transaction().execute(async tx => {
    const invitation = await tx
      .deleteFrom('invitations')
      .where('crate_id', '=', crate.id)
      .where('user_id', '=', user.id)
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
      .values({ crate_id: crate.id, user_id: user.id, added_at: change.at, added_by: invitation.invited_by })
      .onConflict(conflict => conflict.doNothing())
      .execute()
    await markCratePage(tx, crate.id, await addEvent(tx, change, { action: 'owner-add', crate: crate.name, detail }))
  })
}
