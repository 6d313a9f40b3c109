import { type Dependency, type DependencyUse, dependencyOn } from '../../../core/entry/entry.ts'
import type { CanonicalName, Name } from '../../../core/name.ts'
import type { Slice } from '../../../core/search/layout.ts'
import type { Version } from '../../../core/version.ts'
import { all, column, type Queries, type Row } from '../../database/statement.ts'
import { DEPENDENTS } from '../releases-view.ts'

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

/** Returns at most `limit` of the crates whose newest version depends on a crate, by name. */
export async function readDependents(
  db: Queries,
  dependency: CanonicalName,
  limit: number,
): Promise<Dependent[]> {
  const rows = await all<
    Pick<Row<'crates'>, 'name'> & Pick<Row<'releases'>, 'version'> & { deps: string }
  >(db, DEPENDENTS, dependency, limit)
  return rows.flatMap(({ name, version, deps }) => {
    const how = dependencyOn(JSON.parse(deps) as Dependency[], dependency)
    return how ? [{ name, version, ...how }] : []
  })
}

/**
 * Returns the ids of the crates that depend on a crate of this name in another registry: their
 * pages say whether this registry has one, too.
 */
export function namesakesOf(db: Queries, dependency: CanonicalName): Promise<number[]> {
  const sql = 'SELECT crate_id FROM dependents WHERE dependency = ? AND elsewhere = 1'
  return column(db, sql, dependency)
}
