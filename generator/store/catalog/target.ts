import { type Issue, issue } from '../../../core/error/error.ts'
import { canonicalName, type Name } from '../../../core/name.ts'
import { type Version, versionIdentity } from '../../../core/version.ts'
import type { Change, Queries } from './change.ts'
import { type CrateRecord, crateRecord } from './crates.ts'

/** The release that has a version already, perhaps with other build metadata. */
export interface TakenVersion {
  readonly id: number
  readonly version: Version
  readonly cksum: string
  readonly yanked: boolean
  readonly line: string
}

/** What the catalog has in the place where a release is, or is to go. */
export interface Target {
  /** The crate with this canonical name. */
  readonly crate: CrateRecord | null
  /** Whether there is no owner: the crate was taken in at the command line. */
  readonly isOwnerless: boolean
  /** Whether the actor may change the crate: owners, and administrators where there is no owner. */
  readonly mayChange: boolean
  readonly taken: TakenVersion | null
  /** The checksum of the bytes that this version had before it was deleted. */
  readonly deleted: string | null
}

const NOTHING: Target = {
  crate: null,
  isOwnerless: true,
  mayChange: true,
  taken: null,
  deleted: null,
}

/** Reads all that decides on a change of one release, in one statement. */
export async function readTarget(
  db: Queries,
  { name, version }: { readonly name: Name; readonly version: Version },
  { user }: Change,
): Promise<Target> {
  const identity = versionIdentity(version)
  const row = await db
    .selectFrom('crates')
    .leftJoin('releases', join =>
      join.onRef('releases.crate_id', '=', 'crates.id').on('releases.identity', '=', identity),
    )
    .leftJoin('tombstones', join =>
      join.onRef('tombstones.crate_id', '=', 'crates.id').on('tombstones.identity', '=', identity),
    )
    .leftJoin('owners', join =>
      join.onRef('owners.crate_id', '=', 'crates.id').on('owners.user_id', '=', user?.id ?? 0),
    )
    .selectAll('crates')
    .select(['releases.id as taken_id', 'releases.version', 'releases.cksum', 'releases.yanked'])
    .select(['releases.line', 'tombstones.cksum as deleted', 'owners.user_id as own'])
    .select(eb =>
      eb
        .selectFrom('owners as any_owner')
        .select('any_owner.user_id')
        .whereRef('any_owner.crate_id', '=', 'crates.id')
        .limit(1)
        .as('any_owner'),
    )
    .where('crates.canonical', '=', canonicalName(name))
    .executeTakeFirst()
  if (!row) return NOTHING
  const isOwnerless = row.any_owner === null
  const { taken_id: id, version: taken, cksum, line } = row
  return {
    crate: crateRecord(row),
    isOwnerless,
    mayChange: !user || row.own !== null || (user.admin && isOwnerless),
    taken:
      id === null || taken === null || cksum === null || line === null
        ? null
        : { id, version: taken as Version, cksum, yanked: row.yanked === 1, line },
    deleted: row.deleted,
  }
}

/**
 * What stands in the way of a release: its name or version being taken, its publisher not being an
 * owner. Empty when nothing does, or when this very release is already there (a retry by an owner).
 */
export function objectionsTo(
  { crate, mayChange, taken, deleted }: Target,
  release: { readonly name: Name; readonly version: Version; readonly cksum: string },
  { actor }: Change,
): Issue[] {
  const { name, version, cksum } = release
  if (!crate) return []
  // Every other objection would be about the other crate.
  if (crate.name !== name) return [issue('name_taken', { name, existing: crate.name })]
  const issues: Issue[] = []
  if (!mayChange) issues.push(issue('not_owner', { name, login: actor }))
  const isSame = taken?.version === version && taken.cksum === cksum && !taken.yanked
  if (taken && !isSame)
    issues.push(issue('version_taken', { name, version, existing: taken.version }))
  if (deleted !== null && deleted !== cksum)
    issues.push(issue('version_deleted', { name, version }))
  return issues
}
