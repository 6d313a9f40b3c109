import { dependencyOn, type Tie } from '../../../../core/entry/entry.ts'
import { parseEntry } from '../../../../core/entry/parse.ts'
import { type CanonicalName, canonicalName, type Name } from '../../../../core/name.ts'
import type { Version } from '../../../../core/version.ts'
import { all, first, one, type Queries, type Row } from '../../database/statement.ts'
import type { Slice } from '../search/intersection.ts'

/** How many crates depend on a name of this registry, each with its newest version. */
export async function countDependents(db: Queries, dependency: CanonicalName): Promise<number> {
  const text = 'SELECT count(*) AS n FROM dependents WHERE dependency = ?'
  return (await one<{ n: number }>(db, text, dependency)).n
}

/** Ids of the crates that depend on a name, by their names; each with its newest version. */
export async function listDependents(
  db: Queries,
  dependency: CanonicalName,
  { limit, offset }: Slice,
): Promise<number[]> {
  const rows = await all<Pick<Row<'dependents'>, 'crate_id'>>(
    db,
    `SELECT crate_id FROM dependents
      WHERE dependency = ? ORDER BY dependent LIMIT ? OFFSET ?`,
    dependency,
    limit,
    offset,
  )
  return rows.map(row => row.crate_id)
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
  const row = await first<Pick<Row<'dependents'>, 'dependency'>>(
    db,
    `SELECT dependency FROM dependents
      WHERE dependency IN (SELECT value FROM json_each(?))
      GROUP BY dependency ORDER BY count(*) DESC, dependency LIMIT 1`,
    names.map(canonicalName),
  )
  return names.find(name => canonicalName(name) === row?.dependency) ?? names[0] ?? null
}
