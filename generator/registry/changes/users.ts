import { refuse } from '../../../core/error/error.ts'
import type { Version } from '../../../core/version.ts'
import {
  findUser,
  requireAdministrator,
  requireFree,
  requireUser,
  type User,
} from '../../accounts/accounts.ts'
import { all, column, type Queries, run } from '../../database/statement.ts'
import { addEvent, type Change, makeChange, type Permitted } from '../../records/change.ts'
import { follow, type Records } from '../../records/crate-change.ts'
import { readCrate } from '../../records/crates.ts'

/** What a removed user had. */
export interface RemovedUser {
  readonly crates: readonly string[]
  readonly tokens: number
}

/** Returns what a removal would end; refuses it for the only owner of a crate. */
export async function planRemoval(db: Queries, { id, login }: User): Promise<RemovedUser> {
  const sql = `SELECT name, NOT EXISTS (SELECT 1 FROM owners AS others
      WHERE others.crate_id = owners.crate_id AND others.user_id <> owners.user_id) AS alone
    FROM owners JOIN crates ON crates.id = crate_id WHERE user_id = ? ORDER BY canonical`
  const owned = await all<{ readonly name: string; readonly alone: number }>(db, sql, id)
  const alone = owned.filter(crate => crate.alone === 1).map(crate => `\`${crate.name}\``)
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
  records: Records,
  { login }: User,
  change: Change,
): Promise<RemovedUser> {
  return makeChange(records.database, change, async (tx, by) => {
    const user = await requireUser(tx, login)
    const plan = await planRemoval(tx, user)
    const crates = await column<number>(tx, cratesOf, user.id, user.id)
    const sql = `UPDATE users SET removed_at = ?, locked_at = coalesce(locked_at, ?), admin = 0,
      password = NULL, name = NULL WHERE id = ?`
    await run(tx, sql, by.at, by.at, user.id)
    if (user.admin) await requireAdministrator(tx, login)
    const revoke = 'UPDATE tokens SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL'
    await run(tx, revoke, by.at, user.id)
    for (const table of ['owners', 'invitations', 'sessions', 'password_links'] as const)
      await run(tx, `DELETE FROM ${table} WHERE user_id = ?`, user.id)
    const detail = { login: user.login }
    for (const crate of plan.crates)
      await addEvent(tx, by, { action: 'owner-remove', crate, detail })
    const event = { action: 'user-remove', detail: { ...detail, ...plan } }
    const generation = await addEvent(tx, by, event)
    await showAgain(tx, records, user.id, crates, by, generation)
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
  await makeChange(records.database, change, async (tx, by) => {
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
    const crates = await column<number>(tx, cratesOf, id, id)
    await showAgain(tx, records, id, crates, by, generation)
  })
}

/** The crates that name a user: those they own, and those of what they have published. */
const cratesOf = `SELECT crate_id FROM owners WHERE user_id = ?
  UNION SELECT crate_id FROM releases WHERE published_by = ?`

/** Has everything rendered again of some crates that names a user. */
async function showAgain(
  tx: Queries,
  { followers }: Records,
  owner: number,
  crates: readonly number[],
  by: Permitted,
  generation: number,
): Promise<void> {
  const sql = 'SELECT id, version FROM releases WHERE crate_id = ? AND published_by = ?'
  for (const id of crates) {
    const crate = await readCrate(tx, id)
    const altered = await all<{ id: number; version: Version }>(tx, sql, id, owner)
    if (crate) await follow(tx, followers, { crate, altered, owner, by, generation })
  }
}
