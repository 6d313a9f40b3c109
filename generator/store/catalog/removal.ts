import type { Name } from '../../../core/name.ts'
import { type Version, versionIdentity } from '../../../core/version.ts'
import type { Database } from '../database/database.ts'
import { addEvent } from './event.ts'
import { dropListing, keepListing } from './listing.ts'
import { mark, touch } from './marks.ts'
import type { Change, CrateRecord, Queries, ReleaseRecord } from './record.ts'
import { markNextRelease } from './release-marks.ts'

/** A release of another crate whose index line mentions a name; whether it depends on it takes a closer look. */
export interface Mention {
  readonly name: Name
  readonly version: Version
  readonly line: string
}

/**
 * Releases of other crates whose index line mentions `crate`. Looks at every release of the registry, which is why only
 * deletion asks.
 */
export async function mentions(database: Database, crate: CrateRecord): Promise<Mention[]> {
  const rows = await database
    .selectFrom('releases')
    .innerJoin('crates', 'crates.id', 'releases.crate_id')
    .select(['crates.name', 'releases.version', 'releases.line'])
    .where('releases.crate_id', '!=', crate.id)
    .where(eb =>
      eb(eb.fn<number>('instr', ['releases.line', eb.val(JSON.stringify(crate.name))]), '>', 0),
    )
    .execute()
  return rows.map(row => ({
    name: row.name as Name,
    version: row.version as Version,
    line: row.line,
  }))
}

/**
 * Takes releases out of the catalog. The crate itself stays, with its owners, so that nobody else can take its name; the
 * versions stay taken by the bytes they had, so that no lock file ever meets other ones.
 */
export async function removeReleases(
  database: Database,
  crate: CrateRecord,
  releases: readonly ReleaseRecord[],
  change: Change,
): Promise<void> {
  await database.transaction().execute(async tx => {
    let generation = crate.generation
    const lost = await dropListing(tx, crate.id)
    for (const release of releases) {
      await bury(tx, crate, release, change)
      const kinds = ['file', 'release', 'source'] as const
      await tx
        .deleteFrom('marks')
        .where('kind', 'in', kinds)
        .where('subject', '=', release.id)
        .execute()
      await tx.deleteFrom('releases').where('id', '=', release.id).execute()
      generation = await addEvent(tx, change, {
        action: 'delete',
        crate: crate.name,
        version: release.version,
        detail: { cksum: release.cksum },
      })
    }
    for (const release of releases) await markNextRelease(tx, crate.id, release.version, generation)
    await touch(tx, crate.id, generation)
    await mark(tx, { kind: 'whole', subject: crate.id, generation })
    await keepListing(tx, crate.id, generation, lost)
  })
}

/** The checksum of the bytes that a deleted version had; null when that version was never deleted. */
export async function tombstone(
  tx: Queries,
  crateId: number,
  version: Version,
): Promise<string | null> {
  const row = await tx
    .selectFrom('tombstones')
    .select('cksum')
    .where('crate_id', '=', crateId)
    .where('identity', '=', versionIdentity(version))
    .executeTakeFirst()
  return row?.cksum ?? null
}

async function bury(
  tx: Queries,
  crate: CrateRecord,
  release: ReleaseRecord,
  change: Change,
): Promise<void> {
  const { cksum } = release
  await tx
    .insertInto('tombstones')
    .values({
      crate_id: crate.id,
      identity: versionIdentity(release.version),
      cksum,
      deleted_at: change.at,
    })
    .onConflict(conflict =>
      conflict.columns(['crate_id', 'identity']).doUpdateSet({ cksum, deleted_at: change.at }),
    )
    .execute()
}
