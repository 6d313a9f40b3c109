import { dependencyOn, type Tie } from '../../../../core/entry/dependency-on.ts'
import { parseEntry } from '../../../../core/entry/parse.ts'
import type { CanonicalName, Name } from '../../../../core/name.ts'
import type { Version } from '../../../../core/version.ts'
import type { Database } from '../../database/database.ts'
import {
  type CrateRecord,
  crateRecord,
  type Queries,
  type ReleaseRecord,
  releaseRecord,
  selectReleases,
} from '../record.ts'

/** Who owns a crate, the first owner first. */
export async function pageOwners(
  database: Database,
  crateId: number,
): Promise<{ readonly login: string; readonly name: string | null }[]> {
  return database
    .selectFrom('owners')
    .innerJoin('users', 'users.id', 'owners.user_id')
    .select(['users.login', 'users.name'])
    .where('owners.crate_id', '=', crateId)
    .orderBy('owners.added_at')
    .orderBy('users.id')
    .execute()
}

/** A crate whose newest version depends on another, and how. */
export interface DependentRecord extends Tie {
  readonly name: Name
  readonly version: Version
}

/** The crates that depend on a name, by their names, at most `limit`. */
export async function pageDependents(
  database: Database,
  dependency: CanonicalName,
  limit: number,
): Promise<DependentRecord[]> {
  const rows = await database
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

/** A release by its id, with its crate. */
export async function releaseOfPage(
  database: Database,
  releaseId: number,
): Promise<{ readonly crate: CrateRecord; readonly release: ReleaseRecord } | null> {
  const row = await database
    .selectFrom('crates')
    .innerJoin('releases', 'releases.crate_id', 'crates.id')
    .selectAll('crates')
    .where('releases.id', '=', releaseId)
    .executeTakeFirst()
  if (!row) return null
  const release = await readRelease(database, row.id, releaseId)
  return release && { crate: crateRecord(row), release }
}

/** One release of a crate. */
export async function readRelease(
  database: Database,
  crateId: number,
  releaseId: number,
): Promise<ReleaseRecord | null> {
  const row = await selectReleases(database, crateId)
    .where('releases.id', '=', releaseId)
    .executeTakeFirst()
  return row ? releaseRecord(row) : null
}

/** Versions of a crate with the ids of their releases; nothing else, because there may be thousands. */
export async function versionIds(
  database: Queries,
  crateId: number,
): Promise<{ readonly id: number; readonly version: Version }[]> {
  const rows = await database
    .selectFrom('releases')
    .select(['id', 'version'])
    .where('crate_id', '=', crateId)
    .orderBy('id')
    .execute()
  return rows.map(row => ({ id: row.id, version: row.version as Version }))
}
