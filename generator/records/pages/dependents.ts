import { type Dependency, type DependencyUse, dependencyOn } from '../../../core/entry/entry.ts'
import type { CanonicalName, Name } from '../../../core/name.ts'
import type { Slice } from '../../../core/search/files/layout.ts'
import type { Version } from '../../../core/version.ts'
import { all, column, LIST, type Queries, type Row, value } from '../../database/statement.ts'

/** Returns the number of crates whose newest version depends on a crate that has versions. */
export async function countDependents(db: Queries, dependency: CanonicalName): Promise<number> {
  const sql = 'SELECT dependents FROM listings WHERE canonical = ?'
  return (await value<number>(db, sql, dependency)) ?? 0
}

/** Returns the ids of the crates whose newest version depends on a crate, by name. */
export function listDependents(
  db: Queries,
  dependency: CanonicalName,
  { limit, offset }: Slice,
): Promise<number[]> {
  const sql = `SELECT crate_id FROM dependents
    WHERE dependency = ? ORDER BY dependent LIMIT ? OFFSET ?`
  return column(db, sql, dependency, limit, offset)
}

/** A crate whose newest version depends on another, with the kind of dependency. */
export interface Dependent extends DependencyUse {
  readonly name: Name
  readonly version: Version
}

/** Returns at most `limit` crates that depend on a crate, by name. */
export async function readDependents(
  db: Queries,
  dependency: CanonicalName,
  limit: number,
): Promise<Dependent[]> {
  const rows = await all<
    Pick<Row<'crates'>, 'name'> & Pick<Row<'releases'>, 'version'> & { deps: string }
  >(
    db,
    `SELECT crates.name, releases.version, releases.line ->> 'deps' AS deps
      FROM dependents JOIN crates ON crates.id = dependents.crate_id
      JOIN listings ON listings.crate_id = dependents.crate_id
      JOIN releases ON releases.id = listings.newest_id
      WHERE dependents.dependency = ? ORDER BY dependents.dependent LIMIT ?`,
    dependency,
    limit,
  )
  return rows.flatMap(({ name, version, deps }) => {
    const how = dependencyOn(JSON.parse(deps) as Dependency[], dependency)
    return how ? [{ name, version, ...how }] : []
  })
}

/** Returns the spelling of those canonical names that are crates with a page. */
export async function listedNames(
  db: Queries,
  names: readonly CanonicalName[],
): Promise<Map<CanonicalName, Name>> {
  if (names.length === 0) return new Map()
  const rows = await all<Pick<Row<'crates'>, 'canonical' | 'name'>>(
    db,
    `SELECT crates.canonical, crates.name
      FROM crates JOIN listings ON listings.crate_id = crates.id WHERE crates.canonical IN ${LIST}`,
    names,
  )
  return new Map(rows.map(row => [row.canonical, row.name]))
}

/**
 * Returns the ids of the crates that depend on a crate of this name in another registry: their
 * pages say whether this registry has one, too.
 */
export function namesakesOf(db: Queries, dependency: CanonicalName): Promise<number[]> {
  const sql = 'SELECT crate_id FROM dependents WHERE dependency = ? AND elsewhere = 1'
  return column(db, sql, dependency)
}
