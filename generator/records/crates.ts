import { type Issue, issue, Refusal } from '../../core/error/error.ts'
import { type CanonicalName, canonicalName, type Name } from '../../core/name.ts'
import { lookAlikeSkeleton } from '../../core/policy/look-alike.ts'
import {
  all,
  column,
  first,
  insert,
  LIST,
  one,
  type Queries,
  type Row,
  run,
  value,
} from '../database/statement.ts'
import type { Change } from './change.ts'

/** A crate of the records. `generation` grows with every change to the crate. */
export interface CrateRecord extends Readonly<Pick<Row<'crates'>, 'id' | 'name' | 'generation'>> {
  readonly createdAt: string
}

/** The columns of a `CrateRecord`. */
export const CRATE = 'crates.id, crates.name, crates.created_at AS "createdAt", crates.generation'

/** Finds a crate by the canonical form of its name, so `foo-bar` finds `Foo_Bar`. */
export function findCrate(db: Queries, name: Name): Promise<CrateRecord | null> {
  return first(db, `SELECT ${CRATE} FROM crates WHERE canonical = ?`, canonicalName(name))
}

/** Returns a crate by its id; null when there is none. */
export function readCrate(db: Queries, id: number): Promise<CrateRecord | null> {
  return first(db, `SELECT ${CRATE} FROM crates WHERE id = ?`, id)
}

/** Yields every crate in order of id, read in pages so that memory use stays constant. */
export async function* eachCrate(db: Queries): AsyncIterable<CrateRecord> {
  const sql = `SELECT ${CRATE} FROM crates WHERE id > ? ORDER BY id LIMIT 500`
  for (let after = 0; ; ) {
    const crates = await all<CrateRecord>(db, sql, after)
    yield* crates
    const last = crates.at(-1)
    if (!last) return
    after = last.id
  }
}

/** Returns how those `names` are spelled that are crates here, or crates with a page (`listed`). */
export async function spellings(
  db: Queries,
  names: readonly CanonicalName[],
  which: 'all' | 'listed' = 'all',
): Promise<Map<CanonicalName, Name>> {
  if (names.length === 0) return new Map()
  const from = which === 'all' ? 'crates' : 'crates JOIN listings ON crate_id = crates.id'
  const sql = `SELECT crates.canonical, name FROM ${from} WHERE crates.canonical IN ${LIST}`
  const rows = await all<Pick<Row<'crates'>, 'canonical' | 'name'>>(db, sql, names)
  return new Map(rows.map(row => [row.canonical, row.name]))
}

/** Returns at most 10 existing crates that match one of the policy's look-alike keys. */
export function findLookAlikes(db: Queries, keys: readonly string[]): Promise<Name[]> {
  return column(db, `SELECT name FROM crates WHERE skeleton IN ${LIST} ORDER BY id LIMIT 10`, keys)
}

/** Returns the number of crates that have versions, of releases and of users; not of removed ones. */
export function registryCounts(
  db: Queries,
): Promise<Readonly<Record<'crates' | 'releases' | 'users', number>>> {
  const sql = `SELECT coalesce((SELECT crates FROM prefixes WHERE prefix = ''), 0) AS crates,
    (SELECT n FROM counts WHERE what = 'releases') AS releases,
    (SELECT count(*) FROM users WHERE removed_at IS NULL) AS users`
  return one(db, sql)
}

/** Returns the number of crates that `eachCrate` yields, also those whose versions were deleted. */
export async function crateRecords(db: Queries): Promise<number> {
  return (await value<number>(db, 'SELECT count(*) FROM crates')) ?? 0
}

/** Inserts a new crate; its publisher becomes its first owner. */
export async function insertCrate(
  tx: Queries,
  name: Name,
  change: Change,
  generation: number,
): Promise<CrateRecord> {
  const id = await insert(tx, 'crates', {
    name,
    canonical: canonicalName(name),
    skeleton: lookAlikeSkeleton(name),
    created_at: change.at,
    generation,
  })
  if (change.user) await addOwner(tx, id, change.user.id, change.at)
  return { id, name, createdAt: change.at, generation }
}

/** An owner as Cargo lists it (specification A.5). */
export type Owner = Readonly<Pick<Row<'users'>, 'id' | 'login' | 'name'>>

/** Returns the owners of a crate in the order in which they were added. */
export function listOwners(db: Queries, crateId: number): Promise<Owner[]> {
  const sql = `SELECT users.id, users.login, users.name
    FROM owners JOIN users ON users.id = owners.user_id
    WHERE owners.crate_id = ? ORDER BY owners.added_at, users.id`
  return all<Owner>(db, sql, crateId)
}

/** Returns whether a user owns a crate. */
export async function isOwner(db: Queries, crateId: number, userId: number): Promise<boolean> {
  const sql = 'SELECT 1 FROM owners WHERE crate_id = ? AND user_id = ?'
  return (await value(db, sql, crateId, userId)) !== null
}

/** Returns as what a user may change a crate; refuses who is neither owner nor administrator. */
export async function requireOwner(
  db: Queries,
  { id, name }: CrateRecord,
  user: Pick<Row<'users'>, 'id' | 'login'> & { readonly admin: boolean },
): Promise<'owner' | 'administrator'> {
  if (await isOwner(db, id, user.id)) return 'owner'
  if (user.admin) return 'administrator'
  const isOwnerless = (await listOwners(db, id)).length === 0
  throw new Refusal([strangerIssue(name, user.login, isOwnerless)])
}

/** Returns the refusal for a user who does not own a crate. */
export function strangerIssue(name: Name, login: string, isOwnerless: boolean): Issue {
  return issue(isOwnerless ? 'crate_ownerless' : 'not_owner', { name, login })
}

/** Makes a user an owner of a new or imported crate, without an invitation. */
export async function addOwner(
  tx: Queries,
  crateId: number,
  userId: number,
  at: string,
): Promise<void> {
  const sql = 'INSERT INTO owners (crate_id, user_id, added_at) VALUES (?, ?, ?)'
  await run(tx, sql, crateId, userId, at)
}
