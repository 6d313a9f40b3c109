import type { Name } from '../../../core/name.ts'
import { type Version, versionIdentity } from '../../../core/version.ts'
import type { Database } from '../database/database.ts'
import { addEvent, type Change, type Queries } from './change.ts'
import type { CrateRecord } from './crates.ts'
import { delist, relist } from './listing.ts'
import { touchCrate } from './marks.ts'
import { nextRelease } from './publish.ts'
import { listVersions, type ReleaseRecord } from './releases.ts'

/** A release of another crate whose index line mentions a name, perhaps not as a dependency. */
export interface Mention {
  readonly name: Name
  readonly version: Version
  readonly line: string
}

/** Releases of other crates whose index line mentions `crate`; reads every release. */
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
 * Takes releases out of the catalog. The crate itself stays, with its owners, so that nobody else
 * can take its name; the versions stay taken by the bytes they had, because lock files name those.
 */
export async function removeReleases(
  database: Database,
  crate: CrateRecord,
  releases: readonly ReleaseRecord[],
  change: Change,
): Promise<void> {
  await database.transaction().execute(async tx => {
    let generation = crate.generation
    const dropped = await delist(tx, crate.id)
    for (const release of releases) {
      await removeRelease(tx, crate, release, change)
      const { version, cksum } = release
      const event = { action: 'delete', crate: crate.name, version, detail: { cksum } }
      generation = await addEvent(tx, change, event)
    }
    const versions = await listVersions(tx, crate.id)
    const marks = [
      { kind: 'whole', subject: crate.id } as const,
      ...releases.flatMap(one => nextRelease(versions, one.version)),
      ...(await relist(tx, crate, versions, dropped)),
    ]
    await touchCrate(tx, crate.id, marks, generation)
  })
}

/** Removes a release with its marks, and keeps its version for the bytes it had. */
async function removeRelease(
  tx: Queries,
  crate: CrateRecord,
  { id, version, cksum }: ReleaseRecord,
  { at }: Change,
): Promise<void> {
  await tx
    .insertInto('tombstones')
    .values({ crate_id: crate.id, identity: versionIdentity(version), cksum, deleted_at: at })
    .onConflict(conflict =>
      conflict.columns(['crate_id', 'identity']).doUpdateSet({ cksum, deleted_at: at }),
    )
    .execute()
  await tx
    .deleteFrom('marks')
    .where('kind', 'in', ['file', 'release', 'source'])
    .where('subject', '=', id)
    .execute()
  await tx.deleteFrom('releases').where('id', '=', id).execute()
}
