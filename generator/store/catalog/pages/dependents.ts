import { dependencyOn, type Tie } from '../../../../core/entry/entry.ts'
import { parseEntry } from '../../../../core/entry/parse.ts'
import { type CanonicalName, canonicalName, type Name } from '../../../../core/name.ts'
import type { Version } from '../../../../core/version.ts'
import { all, column, LIST, type Queries, type Row, value } from '../../database/statement.ts'
import type { Slice } from '../search/intersection.ts'

/** How many crates depend on a name of this registry, each with its newest version. */
export async function countDependents(db: Queries, dependency: CanonicalName): Promise<number> {
  const text = 'SELECT count(*) FROM dependents WHERE dependency = ?'
  return (await value<number>(db, text, dependency)) ?? 0
}

/** Ids of the crates that depend on a name, by their names; each with its newest version. */
export function listDependents(
  db: Queries,
  dependency: CanonicalName,
  { limit, offset }: Slice,
): Promise<number[]> {
  const text = `SELECT crate_id FROM dependents
    WHERE dependency = ? ORDER BY dependent LIMIT ? OFFSET ?`
  return column(db, text, dependency, limit, offset)
}

/** A crate whose newest version depends on another, and how. */
export interface Dependent extends Tie {
  readonly name: Name
  readonly version: Version
}

/** The crates that depend on a name, by their names, at most `limit`. */
export async function readDependents(
  db: Queries,
  dependency: CanonicalName,
  limit: number,
): Promise<Dependent[]> {
  const rows = await all<Pick<Row<'crates'>, 'name'> & Pick<Row<'releases'>, 'version' | 'line'>>(
    db,
    `SELECT crates.name, releases.version, releases.line
      FROM dependents JOIN crates ON crates.id = dependents.crate_id
      JOIN listings ON listings.crate_id = dependents.crate_id
      JOIN releases ON releases.id = listings.newest_id
      WHERE dependents.dependency = ? ORDER BY dependents.dependent LIMIT ?`,
    dependency,
    limit,
  )
  return rows.flatMap(({ name, version, line }) => {
    const how = dependencyOn(parseEntry(line).deps, dependency)
    return how ? [{ name, version, ...how }] : []
  })
}

/** The one of some crates that most crates depend on; the first one when none has dependents. */
export async function mostRequired(db: Queries, names: readonly Name[]): Promise<Name | null> {
  const text = `SELECT dependency FROM dependents WHERE dependency IN ${LIST}
    GROUP BY dependency ORDER BY count(*) DESC, dependency LIMIT 1`
  const found = await value<CanonicalName>(db, text, names.map(canonicalName))
  return names.find(name => canonicalName(name) === found) ?? names[0] ?? null
}
