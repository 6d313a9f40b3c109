import { dependencyOn, type Tie } from '../../../../core/entry/entry.ts'
import { parseEntry } from '../../../../core/entry/parse.ts'
import { type CanonicalName, canonicalName, type Name } from '../../../../core/name.ts'
import type { Version } from '../../../../core/version.ts'
import type { Queries } from '../change.ts'
import type { Slice } from '../search/slice.ts'

/** How many crates depend on a name of this registry, each with its newest version. */
export async function countDependents(db: Queries, dependency: CanonicalName): Promise<number> {
  const row = await db
    .selectFrom('dependents')
    .select(eb => eb.fn.countAll<number>().as('n'))
    .where('dependency', '=', dependency)
    .executeTakeFirst()
  return row?.n ?? 0
}

/** Ids of the crates that depend on a name, by their names; each with its newest version. */
export async function listDependents(
  db: Queries,
  dependency: CanonicalName,
  slice: Slice,
): Promise<number[]> {
  const rows = await db
    .selectFrom('dependents')
    .select('crate_id')
    .where('dependency', '=', dependency)
    .orderBy('dependent')
    .limit(slice.limit)
    .offset(slice.offset)
    .execute()
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
  const rows = await db
    .selectFrom('dependents')
    .innerJoin('crates', 'crates.id', 'dependents.crate_id')
    .innerJoin('listings', 'listings.crate_id', 'dependents.crate_id')
    .innerJoin('releases', 'releases.id', 'listings.newest_id')
    .select(['crates.name', 'releases.version', 'releases.line'])
    .where('dependents.dependency', '=', dependency)
    .orderBy('dependents.dependent')
    .limit(limit)
    .execute()
  return rows.flatMap(row => {
    const how = dependencyOn(parseEntry(row.line).deps, dependency)
    return how ? [{ name: row.name as Name, version: row.version as Version, ...how }] : []
  })
}

/** The one of some crates that most crates depend on; the first one when none has dependents. */
export async function mostRequired(db: Queries, names: readonly Name[]): Promise<Name | null> {
  const [first] = names
  if (first === undefined) return null
  const row = await db
    .selectFrom('dependents')
    .select(['dependency', eb => eb.fn.countAll<number>().as('n')])
    .where('dependency', 'in', names.map(canonicalName))
    .groupBy('dependency')
    .orderBy('n', 'desc')
    .orderBy('dependency')
    .executeTakeFirst()
  return names.find(name => canonicalName(name) === row?.dependency) ?? first
}
