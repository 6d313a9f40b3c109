import { refuse } from '../../../core/error/error.ts'
import { timestamp } from '../../../core/timestamp.ts'
import type { Version } from '../../../core/version.ts'
import {
  acting,
  findUser,
  type LoginRules,
  requireAdministrator,
  requireFree,
  requireUser,
  type User,
} from '../../accounts/accounts.ts'
import type { OwnerRecords } from '../../accounts/ownership.ts'
import { revokeAll } from '../../accounts/tokens.ts'
import { column, type Queries, run } from '../../database/statement.ts'
import { addEvent, type Change, makeChange, type Permitted } from '../../records/change.ts'
import { type CrateEdit, type Records, tellFollowers } from '../../records/crate-change.ts'
import { readCrate } from '../../records/crates.ts'
import { canAct, cratesOf, type OwnedCrate, removeOwnerOfAll } from '../../records/owners.ts'
import { publishedBy } from '../../records/releases.ts'

/** What a removed user had. */
export interface RemovedUser {
  readonly crates: readonly string[]
  readonly tokens: number
}

/** Returns what a removal would end; refuses it if nobody could act as an owner afterwards. */
export async function planRemoval(
  db: Queries,
  { id, login }: User,
  rules: LoginRules,
  now: Date,
): Promise<RemovedUser> {
  const owned = await cratesOf(db, id)
  const alone: string[] = []
  for (const crate of owned)
    if (!(await canAct(db, crate.id, acting(rules, now), timestamp(now), id)))
      alone.push(`\`${crate.name}\``)
  if (alone.length > 0) refuse('user_sole_owner', { login, crates: alone.join(', ') })
  const good = 'SELECT id FROM tokens WHERE user_id = ? AND revoked_at IS NULL'
  return { crates: owned.map(crate => crate.name), tokens: (await column(db, good, id)).length }
}

/**
 * Removes a user for good: tokens, sessions, password, invitations and ownership end. The name
 * stays taken, and what they have published names them as removed. Refuses the last administrator,
 * and the only owner of a crate.
 */
export async function removeUser(
  records: OwnerRecords,
  { login }: User,
  change: Change,
): Promise<RemovedUser> {
  return makeChange(records.database, change, 'operator', async (tx, by) => {
    const user = await requireUser(tx, login)
    const plan = await planRemoval(tx, user, records.settings, new Date(by.at))
    const owned = await cratesOf(tx, user.id)
    const sql = `UPDATE users SET removed_at = ?, locked_at = coalesce(locked_at, ?), admin = 0,
      password = NULL, name = NULL WHERE id = ?`
    await run(tx, sql, by.at, by.at, user.id)
    if (user.admin) await requireAdministrator(tx, login, records.settings, by)
    await revokeAll(tx, user.id, by)
    await removeOwnerOfAll(tx, user.id)
    // Their identity stays: otherwise the next login there would make a new account.
    for (const table of ['invitations', 'sessions', 'password_links', 'user_groups'])
      await run(tx, `DELETE FROM ${table} WHERE user_id = ?`, user.id)
    const detail = { login: user.login }
    for (const crate of plan.crates)
      await addEvent(tx, by, { action: 'owner-remove', crate, detail })
    const told = [{ type: 'crate.owners', removed: user.login } as const]
    const event = { action: 'user-remove', detail: { ...detail, ...plan } }
    const generation = await addEvent(tx, by, event)
    await showAgain(tx, records, user.id, owned, { by, generation, told })
    return plan
  })
}

/** Renames a user; the old name stays taken. Refuses a name that is malformed, taken, or theirs. */
export async function renameUser(
  records: Records,
  { login }: User,
  to: string,
  change: Change,
): Promise<void> {
  await makeChange(records.database, change, 'operator', async (tx, by) => {
    const { id, login: before } = await requireUser(tx, login)
    const own = 'DELETE FROM former_logins WHERE canonical = ? AND user_id = ?'
    await run(tx, own, to.toLowerCase(), id)
    await requireFree(tx, to)
    const there = await findUser(tx, to)
    if (there && (there.id !== id || before === to)) refuse('login_taken', { login: to })
    if (to.toLowerCase() !== before.toLowerCase()) {
      const keep = 'INSERT INTO former_logins (canonical, user_id) VALUES (?, ?)'
      await run(tx, keep, before.toLowerCase(), id)
    }
    const sql = 'UPDATE users SET login = ?, canonical = ? WHERE id = ?'
    await run(tx, sql, to, to.toLowerCase(), id)
    const detail = { login: to, before }
    const generation = await addEvent(tx, by, { action: 'user-rename', detail })
    await showAgain(tx, records, id, await cratesOf(tx, id), { by, generation })
  })
}

/** Sets the name that is shown of a user, in a transaction; pages that have it follow. */
export async function nameUser(
  tx: Queries,
  records: Records,
  { id, login }: Pick<User, 'id' | 'login'>,
  name: string,
  by: Permitted,
): Promise<void> {
  const sql = 'UPDATE users SET name = ? WHERE id = ? AND name IS DISTINCT FROM ?'
  if ((await run(tx, sql, name, id, name)) === 0) return
  const generation = await addEvent(tx, by, { action: 'user-name', detail: { login, name } })
  await showAgain(tx, records, id, await cratesOf(tx, id), { by, generation })
}

/** Has everything rendered again that names a user: crates of theirs, and what they published. */
async function showAgain(
  tx: Queries,
  { followers }: Records,
  owner: number,
  owned: readonly OwnedCrate[],
  { told = [], ...recorded }: Pick<CrateEdit, 'by' | 'generation' | 'told'>,
): Promise<void> {
  const isOwned = new Set(owned.map(({ id }) => id))
  const named = new Map<number, { id: number; version: Version }[]>(owned.map(({ id }) => [id, []]))
  for (const { crate, ...release } of await publishedBy(tx, owner)) {
    const altered = named.get(crate) ?? []
    named.set(crate, altered)
    altered.push(release)
  }
  for (const [id, altered] of named) {
    const crate = await readCrate(tx, id)
    const edit = { altered, owner, isWords: true, ...recorded, told: isOwned.has(id) ? told : [] }
    if (crate) await tellFollowers(tx, followers, { crate, ...edit })
  }
}
