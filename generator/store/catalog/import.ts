import type { Issue } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import type { Release } from '../../../core/release/release.ts'
import { type VersionIdentity, versionIdentity } from '../../../core/version.ts'
import type { Database } from '../database/database.ts'
import type { Queries } from '../database/statement.ts'
import { addEvent, type Change } from './change.ts'
import { addOwner, type CrateRecord, findCrate, insertCrate } from './crates.ts'
import { relist } from './listing.ts'
import { marksOf, touchCrate } from './marks.ts'
import { insertRelease, listVersions, type VersionRecord } from './releases.ts'
import { objectionsTo, readTarget } from './target.ts'

/** A crate of this registry, as it is spelled here, with its versions. */
export interface KnownCrate {
  readonly name: Name
  readonly releases: ReadonlyMap<VersionIdentity, VersionRecord>
}

/** The result for one release of a batch. */
export type Landing =
  | { readonly outcome: 'added' | 'present' }
  | { readonly outcome: 'refused'; readonly issues: Issue[] }

/** Finds a crate by name, with its versions; null when there is none. */
export async function knownCrate(database: Database, name: Name): Promise<KnownCrate | null> {
  const crate = await findCrate(database, name)
  if (!crate) return null
  const versions = await listVersions(database, crate.id)
  const releases = new Map(versions.map(one => [versionIdentity(one.version), one]))
  return { name: crate.name, releases }
}

/**
 * Adds releases of another registry in one transaction: records, audit events, marks. Each is added
 * or refused separately; one whose version already has these bytes is `present`, even if yanked.
 * `owner` becomes the owner of crates that have none.
 */
export async function importReleases(
  database: Database,
  releases: readonly Release[],
  change: Change,
  import_: { readonly source: string; readonly owner: number | null },
): Promise<Landing[]> {
  return database.transaction().execute(async tx => {
    const landings: Landing[] = []
    const touched = new Map<number, Imported>()
    for (const release of releases)
      landings.push(await importRelease(tx, release, change, import_, touched))
    // Once per crate, however many versions were added: a listing reads all of them.
    for (const { crate, releaseIds, generation } of touched.values()) {
      const versions = await listVersions(tx, crate.id)
      const marks = [
        ...marksOf('file', releaseIds),
        ...marksOf('source', releaseIds),
        // A version's page compares it to the one before, which may have been added now.
        ...marksOf(
          'release',
          versions.map(one => one.id),
        ),
        ...(await relist(tx, crate, versions)),
      ]
      await touchCrate(tx, crate, marks, generation)
    }
    return landings
  })
}

/** A crate to which an import has added releases. */
interface Imported {
  readonly crate: CrateRecord
  readonly releaseIds: number[]
  readonly generation: number
}

async function importRelease(
  tx: Queries,
  release: Release,
  change: Change,
  { source, owner }: { readonly source: string; readonly owner: number | null },
  touched: Map<number, Imported>,
): Promise<Landing> {
  const { name, version, entry } = release
  const target = await readTarget(tx, release, change)
  const { taken } = target
  // Gives an owner to a crate that has none.
  const adopt = async (crate: CrateRecord) => {
    if (target.isOwnerless && owner !== null) await addOwner(tx, crate.id, owner, change.at)
  }
  const isHere = taken?.version === version && taken.cksum === entry.cksum
  if (target.crate?.name === name && isHere) {
    await adopt(target.crate)
    return { outcome: 'present' }
  }
  const issues = objectionsTo(target, { name, version, cksum: entry.cksum }, change)
  if (issues.length > 0) return { outcome: 'refused', issues }
  const event = { action: 'import', crate: name, version, detail: { source } }
  const generation = await addEvent(tx, change, event)
  const published = { ...change, at: entry.pubtime ?? change.at }
  const crate = target.crate ?? (await insertCrate(tx, name, published, generation))
  await adopt(crate)
  const { id } = await insertRelease(tx, crate.id, release, change)
  const releaseIds = [...(touched.get(crate.id)?.releaseIds ?? []), id]
  touched.set(crate.id, { crate, releaseIds, generation })
  return { outcome: 'added' }
}
