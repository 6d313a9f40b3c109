import type { Name } from '../../core/name.ts'
import type { VersionIdentity } from '../../core/version.ts'
import { all, type Queries } from '../database/statement.ts'

/** A version that was deleted and has not come back. */
export interface Tombstone {
  /** The crate, as it is spelled. */
  readonly name: Name
  readonly version: VersionIdentity
  readonly cksum: string
}

const DELETED = `SELECT crates.name, identity AS version, tombstones.cksum
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
