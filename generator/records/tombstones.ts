import { refuse } from '../../core/error/error.ts'
import { canonicalName, type Name } from '../../core/name.ts'
import { type Version, type VersionIdentity, versionIdentity } from '../../core/version.ts'
import { all, first, type Queries } from '../database/statement.ts'

/** A version that was deleted and has not come back. */
export interface Tombstone {
  readonly name: Name
  readonly version: VersionIdentity
  readonly cksum: string
  /** What Cargo is told; null if none was given. */
  readonly reason: string | null
}

const DELETED = `SELECT crates.name, identity AS version, tombstones.cksum,
    tombstones.reason
  FROM tombstones JOIN crates ON crates.id = crate_id
  WHERE NOT EXISTS (SELECT 1 FROM releases WHERE releases.cksum = tombstones.cksum)`

/** Lists the deleted versions of all crates. */
export function listTombstones(db: Queries): Promise<Tombstone[]> {
  return all(db, DELETED)
}

/** Lists the deleted versions of a crate. */
export function tombstonesOf(db: Queries, crateId: number): Promise<Tombstone[]> {
  return all(db, `${DELETED} AND crate_id = ?`, crateId)
}

/** Refuses a version that was deleted, and says why it was. */
export async function refuseDeleted(db: Queries, name: Name, version: Version): Promise<void> {
  const sql = `${DELETED} AND canonical = ? AND identity = ?`
  const found = await first<Tombstone>(db, sql, canonicalName(name), versionIdentity(version))
  if (found) refuse('release_deleted', { ...found, version })
}
