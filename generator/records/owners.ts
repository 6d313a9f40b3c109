import { type Issue, issue, Refusal } from '../../core/error/error.ts'
import { canonicalName, type Name } from '../../core/name.ts'
import type { Slice } from '../../core/search/layout.ts'
import {
  all,
  type Condition,
  column,
  LIST,
  one,
  type Queries,
  type Row,
  run,
  value,
} from '../database/statement.ts'
import { type Change, userIdOf } from './change.ts'
import type { CrateRecord } from './crates.ts'
import { COUNTS, counting, GROUP_LOGIN, groupsOf, HAS_GROUP, type OwnerRef } from './groups.ts'

/** An owner as Cargo lists it (specification A.5): a group by `group:NAME` and its title. */
export type Owner = Readonly<Pick<Row<'users'>, 'id' | 'login' | 'name'>>

/** What is added to the number of a group where users are listed, too: ids are 32 bits there. */
const GROUP_IDS = 2 ** 31

/** Whether a user owns a crate through a group, in a statement on `crates`. */
const through = (user: string) => `EXISTS (SELECT 1 FROM group_owners
    JOIN groups ON groups.id = group_owners.group_id
    JOIN user_groups ON ${HAS_GROUP}
    WHERE group_owners.crate_id = crates.id AND user_groups.user_id = ${user} AND ${COUNTS})`

/**
 * Who may add a version to a crate: columns of a statement on `crates`, with the parameters of
 * `ownedBy`.
 */
export const OWNED = `(EXISTS (SELECT 1 FROM owners WHERE crate_id = crates.id AND user_id = ?)
    OR ${through('?')}) AS "isOwner",
  (EXISTS (SELECT 1 FROM owners WHERE crate_id = crates.id)
    OR EXISTS (SELECT 1 FROM group_owners WHERE crate_id = crates.id)) AS "isOwned",
  EXISTS (SELECT 1 FROM invitations
    WHERE crate_id = crates.id AND user_id = ?) AS "isInvited"`

/** What `OWNED` tells of a user who may not change a crate. */
type Standing = Record<'isOwner' | 'isOwned' | 'isInvited', number>

/** Returns the parameters of `OWNED`: a user's id, and the time at which groups have to count. */
export function ownedBy(user: number | null, at: string): (number | string | null)[] {
  // Nobody is in no group; a static build has no time.
  const times = user === null ? ['', ''] : counting(at)
  return [user, user, ...times, user]
}

/** The number of crates that a user owns, in a statement on `users`. */
export const CRATES_OWNED = '(SELECT count(*) FROM owners WHERE user_id = users.id)'

/** The logins of the owners as JSON, groups among them, in a statement on `crates`. */
export const OWNER_LOGINS = `(SELECT json_group_array(login) FROM (
  SELECT users.login FROM owners
    JOIN users ON users.id = owners.user_id WHERE owners.crate_id = crates.id
  UNION ALL SELECT ${GROUP_LOGIN} FROM group_owners
    JOIN groups ON groups.id = group_id WHERE group_owners.crate_id = crates.id) AS found)`

/**
 * Whether a crate, by an expression for its id, has no owner, or one that owns the crate of a
 * statement on `crates`, too.
 */
export const sharesOwner = (id: string) => {
  const some = (table: string, and = '') =>
    `EXISTS (SELECT 1 FROM ${table} AS theirs WHERE theirs.crate_id = ${id}${and})`
  const same = (table: string, owner: string) =>
    some(table, ` AND ${owner} IN (SELECT ${owner} FROM ${table} WHERE crate_id = crates.id)`)
  return `(NOT (${some('owners')} OR ${some('group_owners')})
    OR ${same('owners', 'user_id')} OR ${same('group_owners', 'group_id')})`
}

/**
 * Returns whether a change may publish a crate; `row` has the columns of `OWNED`, or is null for a
 * new one. An administrator may where nobody else can, and a job where its rules say so.
 */
export function mayAdd(
  change: Change,
  name: Name,
  row: Record<'isOwner' | 'isOwned', number> | null,
): boolean {
  if (change.who === 'rule') return change.grant.crate === canonicalName(name)
  if (change.who === 'operator' || row === null) return true
  return change.who === 'user' && (row.isOwner === 1 || (change.user.admin && row.isOwned === 0))
}

/**
 * Returns as what the maker of a change may yank versions and change owners; refuses whoever is
 * neither the operator, nor an owner, nor an administrator.
 */
export async function requireOwner(
  db: Queries,
  { id, name }: CrateRecord,
  change: Change,
): Promise<'operator' | 'owner' | 'administrator'> {
  if (change.who === 'operator') return 'operator'
  const row = await readStanding(db, id, userIdOf(change), change.at)
  if (change.who === 'user' && row.isOwner === 1) return 'owner'
  if (change.who === 'user' && change.user.admin) return 'administrator'
  throw new Refusal([strangerIssue(name, change.actor, row)])
}

function readStanding(db: Queries, id: number, user: number | null, at: string): Promise<Standing> {
  return one<Standing>(db, `SELECT ${OWNED} FROM crates WHERE id = ?`, ...ownedBy(user, at), id)
}

/** Returns the issue for somebody who may not change a crate. */
export function strangerIssue(name: Name, login: string, row: Omit<Standing, 'isOwner'>): Issue {
  const code = row.isInvited ? 'not_owner_yet' : row.isOwned ? 'not_owner' : 'crate_ownerless'
  return issue(code, { name, login })
}

/** Returns whether a user owns a crate, also through a group that counts at that time. */
export async function isOwner(
  db: Queries,
  crateId: number,
  userId: number,
  at: string,
): Promise<boolean> {
  return (await readStanding(db, crateId, userId, at)).isOwner === 1
}

/** Returns whether a user is one of the owners of a crate themselves. */
export async function isDirectOwner(db: Queries, crateId: number, user: number): Promise<boolean> {
  const sql = 'SELECT 1 FROM owners WHERE crate_id = ? AND user_id = ?'
  return (await value(db, sql, crateId, user)) !== null
}

/** Returns the owners of a crate in the order in which they were added. */
export function listOwners(db: Queries, crateId: number): Promise<Owner[]> {
  const sql = `SELECT id, login, name FROM (
      SELECT users.id, users.login, users.name, owners.added_at AS at
      FROM owners JOIN users ON users.id = owners.user_id WHERE owners.crate_id = ?
      UNION ALL SELECT groups.id + ${GROUP_IDS}, ${GROUP_LOGIN}, groups.title, added_at
      FROM group_owners JOIN groups ON groups.id = group_id WHERE crate_id = ?
    ) AS found ORDER BY at, id`
  return all<Owner>(db, sql, crateId, crateId)
}

/** Users for whom `acting` is true, in the groups of a statement that count; first, `counting`. */
const members = (acting: Condition) => `FROM groups JOIN user_groups ON ${HAS_GROUP}
    JOIN users ON users.id = user_groups.user_id WHERE ${COUNTS} AND ${acting.sql}`
const USERS = 'FROM owners JOIN users ON users.id = owners.user_id WHERE'

/**
 * Returns whether one of the owners of a crate can do something: a user for whom `acting`, a
 * condition of a statement on `users`, is true, or one in a group. Leaves out `except`.
 */
export async function canAct(
  db: Queries,
  crateId: number,
  acting: Condition,
  at: string,
  except = 0,
): Promise<boolean> {
  const owned = 'SELECT group_id FROM group_owners WHERE crate_id = ?'
  const sql = `SELECT 1 ${USERS} ${acting.sql} AND crate_id = ? AND users.id <> ?
    UNION ALL SELECT 1 ${members(acting)} AND groups.id IN (${owned}) AND users.id <> ? LIMIT 1`
  const [{ values }, who] = [acting, [crateId, except] as const]
  return (await value(db, sql, ...values, ...who, ...counting(at), ...values, ...who)) !== null
}

/** Returns whether an owner is a user who can do something, or a group with one; see `canAct`. */
export async function mayAct(
  db: Queries,
  owner: OwnerRef,
  acting: Condition,
  at: string,
): Promise<boolean> {
  const found =
    'user' in owner
      ? await value(
          db,
          `SELECT 1 FROM users WHERE ${acting.sql} AND id = ?`,
          ...acting.values,
          owner.user,
        )
      : await value(
          db,
          `SELECT 1 ${members(acting)} AND groups.id = ? LIMIT 1`,
          ...counting(at),
          ...acting.values,
          owner.group,
        )
  return found !== null
}

/** Returns the names of crates whose owners can all do nothing, at most `limit`; see `canAct`. */
export function stuckCrates(
  db: Queries,
  acting: Condition,
  at: string,
  limit: number,
): Promise<Name[]> {
  const good = `SELECT groups.id ${members(acting)}`
  const sql = `SELECT name FROM crates WHERE id IN (
      SELECT crate_id ${USERS} NOT (${acting.sql})
      UNION SELECT crate_id FROM group_owners WHERE group_id NOT IN (${good}))
    AND NOT EXISTS (SELECT 1 ${USERS} crate_id = crates.id AND ${acting.sql})
    AND NOT EXISTS (SELECT 1 FROM group_owners
      WHERE crate_id = crates.id AND group_id IN (${good}))
    ORDER BY canonical LIMIT ?`
  const able = [...counting(at), ...acting.values]
  return column(db, sql, ...acting.values, ...able, ...acting.values, ...able, limit)
}

/** Returns the ids of the users on whose pages a crate is. */
export function usersWith(db: Queries, crateId: number): Promise<number[]> {
  return column(db, 'SELECT user_id FROM owners WHERE crate_id = ?', crateId)
}

/** Makes somebody an owner; returns whether they were none before. `by` is a user's id. */
export async function addOwner(
  tx: Queries,
  crateId: number,
  owner: OwnerRef,
  at: string,
  by: number | null = null,
): Promise<boolean> {
  const [table, column, id] = rowOf(owner)
  const sql = `INSERT INTO ${table} (crate_id, ${column}, added_at, added_by) VALUES (?, ?, ?, ?)
    ON CONFLICT DO NOTHING`
  return (await run(tx, sql, crateId, id, at, by)) > 0
}

/** Returns the id of the user who is an owner; null for a group. */
export function userOf(owner: OwnerRef): number | null {
  return 'user' in owner ? owner.user : null
}

/** Ends an ownership; returns whether there was one. */
export async function removeOwner(tx: Queries, crateId: number, owner: OwnerRef): Promise<boolean> {
  const [table, column, id] = rowOf(owner)
  const sql = `DELETE FROM ${table} WHERE crate_id = ? AND ${column} = ?`
  return (await run(tx, sql, crateId, id)) > 0
}

function rowOf(owner: OwnerRef) {
  return 'user' in owner
    ? (['owners', 'user_id', owner.user] as const)
    : (['group_owners', 'group_id', owner.group] as const)
}

/** Ends all ownerships of somebody. */
export async function removeOwnerOfAll(tx: Queries, user: number): Promise<void> {
  await run(tx, 'DELETE FROM owners WHERE user_id = ?', user)
}

/** A crate that a user owns. */
export type OwnedCrate = Pick<CrateRecord, 'id' | 'name'>

/** Returns the crates that a user owns themselves, in alphabetical order. */
export function cratesOf(db: Queries, userId: number): Promise<OwnedCrate[]> {
  const sql = `SELECT crates.id, name FROM owners JOIN crates ON crates.id = crate_id
    WHERE user_id = ? ORDER BY canonical`
  return all(db, sql, userId)
}

/** A crate on somebody's page; `through` is the group that owns it, null for the user. */
export type ShownCrate = OwnedCrate & { readonly through: string | null }

/** Returns a page of the crates of a user and of their groups, in alphabetical order, and all. */
export async function cratesShown<S extends Slice>(
  db: Queries,
  userId: number,
  at: string,
  sliceOf: (total: number) => S,
): Promise<{ readonly crates: readonly ShownCrate[]; readonly slice: S }> {
  const groups: number[] = []
  const ids = `SELECT id FROM groups WHERE issuer = ? AND name IN ${LIST}`
  for (const [issuer, names] of await groupsOf(db, userId, at))
    groups.push(...(await column<number>(db, ids, issuer, names)))
  const owned = `(SELECT crate_id, CAST(NULL AS INTEGER) AS group_id FROM owners WHERE user_id = ?
    UNION ALL SELECT crate_id, min(group_id) FROM group_owners WHERE group_id IN ${LIST}
      AND crate_id NOT IN (SELECT crate_id FROM owners WHERE user_id = ?)
    GROUP BY crate_id) AS found`
  const parameters = [userId, groups, userId] as const
  const total = (await value<number>(db, `SELECT count(*) FROM ${owned}`, ...parameters)) ?? 0
  const slice = sliceOf(total)
  const sql = `SELECT crates.id, crates.name,
      (SELECT ${GROUP_LOGIN} FROM groups WHERE groups.id = found.group_id) AS "through"
    FROM ${owned} JOIN crates ON crates.id = found.crate_id
    ORDER BY canonical LIMIT ? OFFSET ?`
  return { crates: await all(db, sql, ...parameters, slice.limit, slice.offset), slice }
}

/** Returns the ids of the newest listed crates that a user owns, at most `limit`. */
export function newestOf(db: Queries, userId: number, limit: number): Promise<number[]> {
  const sql = `SELECT owners.crate_id FROM owners
    JOIN listings ON listings.crate_id = owners.crate_id
    WHERE user_id = ? ORDER BY owners.crate_id DESC LIMIT ?`
  return column(db, sql, userId, limit)
}
