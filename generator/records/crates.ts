import { refuse } from '../../core/error/error.ts'
import { type CanonicalName, canonicalName, isName, type Name } from '../../core/name.ts'
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
  value,
} from '../database/statement.ts'

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

/** Finds a crate as `findCrate` does; refuses a text that names none. */
export async function requireCrate(db: Queries, name: string): Promise<CrateRecord> {
  return (isName(name) && (await findCrate(db, name))) || refuse('crate_unknown', { name })
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

/** Returns the id of a crate, and of the rule that created it or null; null if there is none. */
export function crateMaker(
  db: Queries,
  name: CanonicalName,
): Promise<{ readonly id: number; readonly rule: number | null } | null> {
  return first(db, 'SELECT id, rule_id AS rule FROM crates WHERE canonical = ?', name)
}

/**
 * Inserts a new crate, without owners; `rule` is the one that creates it, `newId` its id where that
 * is not the next one.
 */
export async function insertCrate(
  tx: Queries,
  name: Name,
  createdAt: string,
  generation: number,
  rule: number | null = null,
  newId?: number,
): Promise<CrateRecord> {
  const id = await insert(tx, 'crates', {
    ...(newId !== undefined && { id: newId }),
    name,
    canonical: canonicalName(name),
    skeleton: lookAlikeSkeleton(name),
    created_at: createdAt,
    generation,
    rule_id: rule,
  })
  return { id, name, createdAt, generation }
}
