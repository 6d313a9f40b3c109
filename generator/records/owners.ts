import { type Issue, issue, Refusal } from '../../core/error/error.ts'
import { canonicalName, type Name } from '../../core/name.ts'
import type { Slice } from '../../core/search/layout.ts'
import { all, column, type Queries, type Row, run, value } from '../database/statement.ts'
import type { Change } from './change.ts'
import type { CrateRecord } from './crates.ts'

/** Whoever owns a crate, as the records know them. */
export interface OwnerRef {
  readonly user: number
}

/** An owner as Cargo lists it (specification A.5). */
export type Owner = Readonly<Pick<Row<'users'>, 'id' | 'login' | 'name'>>

/** Who may add a version to a crate: columns of a statement on `crates`; `?` is a user's id. */
export const OWNED = `EXISTS (SELECT 1 FROM owners
    WHERE crate_id = crates.id AND user_id = ?) AS "isOwner",
  EXISTS (SELECT 1 FROM owners WHERE crate_id = crates.id) AS "isOwned"`

/** The number of crates that a user owns, in a statement on `users`. */
export const CRATES_OWNED = '(SELECT count(*) FROM owners WHERE user_id = users.id)'

/** The logins of the owners as JSON, in a statement on `crates`. */
export const OWNER_LOGINS = `(SELECT json_group_array(users.login) FROM owners
  JOIN users ON users.id = owners.user_id WHERE owners.crate_id = crates.id)`

/**
 * Returns whether a change may add a version to an existing crate; `row` has the columns of
 * `OWNED`. An administrator may where nobody else can, and a job where its rules say so.
 */
export function mayAdd(
  change: Change,
  row: Record<'isOwner' | 'isOwned', number> & Pick<CrateRecord, 'name'>,
): boolean {
  if (change.who === 'operator') return true
  if (change.who === 'rule') return change.grant.crate === canonicalName(row.name)
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
  if (change.who === 'user') {
    if (await isOwner(db, id, change.user.id)) return 'owner'
    if (change.user.admin) return 'administrator'
  }
  const isOwnerless = (await listOwners(db, id)).length === 0
  throw new Refusal([strangerIssue(name, change.actor, isOwnerless)])
}

/** Returns what somebody is told who may not change a crate. */
export function strangerIssue(name: Name, login: string, isOwnerless: boolean): Issue {
  return issue(isOwnerless ? 'crate_ownerless' : 'not_owner', { name, login })
}

/** Returns whether a user owns a crate. */
export async function isOwner(db: Queries, crateId: number, userId: number): Promise<boolean> {
  const sql = 'SELECT 1 FROM owners WHERE crate_id = ? AND user_id = ?'
  return (await value(db, sql, crateId, userId)) !== null
}

/** Returns the owners of a crate in the order in which they were added. */
export function listOwners(db: Queries, crateId: number): Promise<Owner[]> {
  const sql = `SELECT users.id, users.login, users.name
    FROM owners JOIN users ON users.id = owners.user_id
    WHERE owners.crate_id = ? ORDER BY owners.added_at, users.id`
  return all<Owner>(db, sql, crateId)
}

/** Returns the ids of the users on whose pages a crate is. */
export function usersWith(db: Queries, crateId: number): Promise<number[]> {
  return column(db, 'SELECT user_id FROM owners WHERE crate_id = ?', crateId)
}

/** Makes somebody an owner; returns whether they were none before. `by` is a user's id. */
export async function addOwner(
  tx: Queries,
  crateId: number,
  { user }: OwnerRef,
  at: string,
  by: number | null = null,
): Promise<boolean> {
  const sql = `INSERT INTO owners (crate_id, user_id, added_at, added_by) VALUES (?, ?, ?, ?)
    ON CONFLICT DO NOTHING`
  return (await run(tx, sql, crateId, user, at, by)) > 0
}

/** Ends an ownership; returns whether there was one. */
export async function removeOwner(
  tx: Queries,
  crateId: number,
  { user }: OwnerRef,
): Promise<boolean> {
  const sql = 'DELETE FROM owners WHERE crate_id = ? AND user_id = ?'
  return (await run(tx, sql, crateId, user)) > 0
}

/** Ends all ownerships of somebody. */
export async function removeOwnerOfAll(tx: Queries, { user }: OwnerRef): Promise<void> {
  await run(tx, 'DELETE FROM owners WHERE user_id = ?', user)
}

/** Counts the crates that a user owns. */
export async function countCratesOf(db: Queries, userId: number): Promise<number> {
  const sql = 'SELECT count(*) FROM owners WHERE user_id = ?'
  return (await value<number>(db, sql, userId)) ?? 0
}

/** A crate that a user owns; `isSole` says that nobody else does. */
export type OwnedCrate = Pick<CrateRecord, 'id' | 'name'> & { readonly isSole: number }

/** Returns the crates that a user owns, in alphabetical order; by default all. */
export function cratesOf(
  db: Queries,
  userId: number,
  { limit, offset }: Slice = { limit: Number.MAX_SAFE_INTEGER, offset: 0 },
): Promise<OwnedCrate[]> {
  const sql = `SELECT crates.id, name, NOT EXISTS (SELECT 1 FROM owners AS others
      WHERE others.crate_id = owners.crate_id AND others.user_id <> owners.user_id) AS "isSole"
    FROM owners JOIN crates ON crates.id = crate_id
    WHERE user_id = ? ORDER BY canonical LIMIT ? OFFSET ?`
  return all(db, sql, userId, limit, offset)
}

/** Returns the ids of the newest listed crates that a user owns, at most `limit`. */
export function newestOf(db: Queries, userId: number, limit: number): Promise<number[]> {
  const sql = `SELECT owners.crate_id FROM owners
    JOIN listings ON listings.crate_id = owners.crate_id
    WHERE user_id = ? ORDER BY owners.crate_id DESC LIMIT ?`
  return column(db, sql, userId, limit)
}
