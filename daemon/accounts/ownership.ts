import {
  addEvent,
  type Change,
  type CrateRecord,
  type Database,
  isOwner,
  issue,
  listOwners,
  markCratePage,
  Refusal,
  refuse,
  type Slice,
} from '../../generator/index.ts'
import { type Account, findUser, type User } from './accounts.ts'

/** How many crates a user owns. */
export async function countCratesOf(database: Database, userId: number): Promise<number> {
  const query = database.selectFrom('owners').select(database.fn.countAll<number>().as('crates'))
  return Number((await query.where('user_id', '=', userId).executeTakeFirstOrThrow()).crates)
}

/** The names of the crates a user owns, in alphabetical order. */
export async function cratesOf(
  database: Database,
  userId: number,
  { limit, offset }: Slice,
): Promise<string[]> {
  const rows = await database
    .selectFrom('owners')
    .innerJoin('crates', 'crates.id', 'owners.crate_id')
    .select('crates.name')
    .where('owners.user_id', '=', userId)
    .orderBy('crates.canonical')
    .limit(limit)
    .offset(offset)
    .execute()
  return rows.map(row => row.name)
}

/** Refuses a user who may not manage a crate: only its owners and administrators may. */
export async function requireOwner(
  database: Database,
  crate: CrateRecord,
  user: Account,
): Promise<void> {
  if (user.admin || (await isOwner(database, crate.id, user.id))) return
  refuse('not_owner', { name: crate.name, login: user.login })
}

/** What became of the logins in a request. */
export interface OwnerChange {
  readonly changed: readonly string[]
  /** Those for whom it was so before. */
  readonly unchanged: readonly string[]
}

/** Makes users owners at once. All or none: unknown logins are named, all of them. */
export async function addOwners(
  database: Database,
  crate: CrateRecord,
  logins: readonly string[],
  change: Change,
): Promise<OwnerChange> {
  return eachUser(database, crate, logins, change, async (tx, user) => {
    if (await isOwner(tx, crate.id, user.id)) return false
    await insertOwner(tx, crate, user, change.user?.id ?? null, change)
    await withdrawInvitation(tx, crate.id, user.id)
    return true
  })
}

/** Makes a user an owner, unless they are one already. */
export async function insertOwner(
  tx: Database,
  crate: { readonly id: number; readonly name: string },
  user: Pick<Account, 'id' | 'login'>,
  addedBy: number | null,
  change: Change,
): Promise<void> {
  await tx
    .insertInto('owners')
    .values({ crate_id: crate.id, user_id: user.id, added_at: change.at, added_by: addedBy })
    .onConflict(conflict => conflict.doNothing())
    .execute()
  const detail = { login: user.login }
  const event = await addEvent(tx, change, { action: 'owner-add', crate: crate.name, detail })
  await markCratePage(tx, crate.id, event)
}

/** Invites users to become owners, or renews their invitations. All or none, as `addOwners`. */
export async function inviteOwners(
  database: Database,
  crate: CrateRecord,
  logins: readonly string[],
  change: Change,
): Promise<OwnerChange> {
  return eachUser(database, crate, logins, change, async (tx, user) => {
    if (await isOwner(tx, crate.id, user.id)) return false
    const made = { invited_at: change.at, invited_by: change.user?.id ?? null }
    await tx
      .insertInto('invitations')
      .values({ crate_id: crate.id, user_id: user.id, ...made })
      .onConflict(conflict => conflict.doUpdateSet(made))
      .execute()
    const detail = { login: user.login }
    await addEvent(tx, change, { action: 'owner-invite', crate: crate.name, detail })
    return true
  })
}

/**
 * Removes owners and withdraws invitations. All or none; refuses a login that is neither owner nor
 * invited, and to remove the last owner.
 */
export async function removeOwners(
  database: Database,
  crate: CrateRecord,
  logins: readonly string[],
  change: Change,
): Promise<OwnerChange> {
  return database.transaction().execute(async tx => {
    const before = (await listOwners(tx, crate.id)).length
    const removed = await eachUser(tx, crate, logins, change, async (inner, user) => {
      const owner = await inner
        .deleteFrom('owners')
        .where('crate_id', '=', crate.id)
        .where('user_id', '=', user.id)
        .executeTakeFirst()
      const invited = await withdrawInvitation(inner, crate.id, user.id)
      if (owner.numDeletedRows === 0n && !invited)
        refuse('owner_unknown', { name: crate.name, login: user.login })
      const action = owner.numDeletedRows > 0n ? 'owner-remove' : 'invitation-withdraw'
      const detail = { login: user.login }
      const event = await addEvent(inner, change, { action, crate: crate.name, detail })
      await markCratePage(inner, crate.id, event)
      return true
    })
    const left = (await listOwners(tx, crate.id)).length
    if (left === 0 && before > 0) refuse('owner_last', { name: crate.name })
    return removed
  })
}

async function eachUser(
  database: Database,
  crate: CrateRecord,
  logins: readonly string[],
  change: Change,
  work: (tx: Database, user: User) => Promise<boolean>,
): Promise<OwnerChange> {
  const inTransaction = async (tx: Database) => {
    // Whoever was asked before may have lost the crate while the request arrived.
    if (change.user) await requireOwner(tx, crate, { ...change.user, login: change.actor })
    const users = await Promise.all(logins.map(login => findUser(tx, login)))
    const unknown = logins
      .filter((_, index) => !users[index])
      .map(login => issue('owner_no_user', { login, name: crate.name }))
    const [first, ...rest] = unknown
    if (first) throw new Refusal([first, ...rest])
    const changed: string[] = []
    const unchanged: string[] = []
    // One user may be named by several spellings of the login.
    const named = new Map(users.flatMap(user => (user ? [[user.id, user] as const] : [])))
    for (const user of named.values())
      ((await work(tx, user)) ? changed : unchanged).push(user.login)
    return { changed, unchanged }
  }
  return database.isTransaction
    ? inTransaction(database)
    : database.transaction().execute(inTransaction)
}

async function withdrawInvitation(
  database: Database,
  crateId: number,
  userId: number,
): Promise<boolean> {
  const row = await database
    .deleteFrom('invitations')
    .where('crate_id', '=', crateId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row.numDeletedRows > 0n
}
