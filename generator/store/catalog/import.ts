import type { Issue } from '../../../core/error/error.ts'
import { canonicalName, type Name } from '../../../core/name.ts'
import type { Release } from '../../../core/release/release.ts'
import type { Version, VersionIdentity } from '../../../core/version.ts'
import type { Database } from '../database/database.ts'
import { insertCrate, insertRelease, objections } from './change.ts'
import { addEvent } from './event.ts'
import { keepListing } from './listing.ts'
import { mark, markAll, touch } from './marks.ts'
import { versionIds } from './pages/page-facts.ts'
import { type Change, findCrate, findTwin, type Queries } from './record.ts'

/** What an import has to know of a version that is here. */
export interface KnownRelease {
  readonly version: Version
  readonly cksum: string
  readonly yanked: boolean
}

/** A crate that is here, under the name it has here, with its versions. */
export interface KnownCrate {
  readonly name: Name
  readonly releases: ReadonlyMap<VersionIdentity, KnownRelease>
}

/** What became of one release of a batch. */
export type Landing =
  | { readonly outcome: 'added' | 'present' }
  | { readonly outcome: 'refused'; readonly issues: Issue[] }

/** The crate that `name` means with its versions, null when there is none: one look for a whole index file. */
export async function knownCrate(database: Database, name: Name): Promise<KnownCrate | null> {
  const crate = await findCrate(database, canonicalName(name))
  if (!crate) return null
  const rows = await database
    .selectFrom('releases')
    .select(['version', 'identity', 'cksum', 'yanked'])
    .where('crate_id', '=', crate.id)
    .execute()
  const releases = rows.map(row => {
    const known = { version: row.version as Version, cksum: row.cksum, yanked: row.yanked === 1 }
    return [row.identity as VersionIdentity, known] as const
  })
  return { name: crate.name, releases: new Map(releases) }
}

/** The release that has these bytes; null when none does. */
export async function releaseOfBytes(
  database: Database,
  cksum: string,
): Promise<{ name: Name; version: Version } | null> {
  const row = await database
    .selectFrom('releases')
    .innerJoin('crates', 'crates.id', 'releases.crate_id')
    .select(['crates.name', 'releases.version'])
    .where('releases.cksum', '=', cksum)
    .executeTakeFirst()
  return row ? { name: row.name as Name, version: row.version as Version } : null
}

/**
 * Takes in releases of another registry, in one transaction: records, audit events, marks. Each is refused or taken on its
 * own; one whose bytes are here under its version is present, yanked or not. `owner` becomes the owner of crates that
 * have none.
 */
export async function importReleases(
  database: Database,
  releases: readonly Release[],
  change: Change,
  import_: { readonly source: string; readonly owner: number | null },
): Promise<Landing[]> {
  return database.transaction().execute(async tx => {
    const landings: Landing[] = []
    const touched = new Map<number, number>()
    for (const release of releases)
      landings.push(await importRelease(tx, release, change, import_, touched))
    // Once for a crate, however many of its versions came: a listing looks at all of them.
    for (const [crateId, generation] of touched) {
      await touch(tx, crateId, generation)
      // The page of a version tells what changed since the one before it, which may have come now.
      const ids = (await versionIds(tx, crateId)).map(one => one.id)
      await markAll(tx, 'release', ids, generation)
      await keepListing(tx, crateId, generation)
    }
    return landings
  })
}

async function importRelease(
  tx: Queries,
  release: Release,
  change: Change,
  { source, owner }: { readonly source: string; readonly owner: number | null },
  touched: Map<number, number>,
): Promise<Landing> {
  const { name, version, entry } = release
  const existing = await findCrate(tx, canonicalName(name))
  const twin = existing && (await findTwin(tx, existing.id, version))
  if (existing?.name === name && twin?.version === version && twin.cksum === entry.cksum) {
    await adopt(tx, existing.id, owner, change)
    return { outcome: 'present' }
  }
  const issues = await objections(tx, { name, version, cksum: entry.cksum }, change)
  if (issues.length > 0) return { outcome: 'refused', issues }
  const generation = await addEvent(tx, change, {
    action: 'import',
    crate: name,
    version,
    detail: { source },
  })
  const crateId =
    existing?.id ?? (await insertCrate(tx, name, { ...change, at: entry.pubtime ?? change.at }))
  await adopt(tx, crateId, owner, change)
  const releaseId = await insertRelease(tx, crateId, release, change)
  touched.set(crateId, generation)
  await mark(tx, { kind: 'file', subject: releaseId, generation })
  await mark(tx, { kind: 'source', subject: releaseId, generation })
  return { outcome: 'added' }
}

/** Gives a crate without owners one. */
async function adopt(
  tx: Queries,
  crateId: number,
  owner: number | null,
  change: Change,
): Promise<void> {
  if (owner === null) return
  const row = await tx
    .selectFrom('owners')
    .select('user_id')
    .where('crate_id', '=', crateId)
    .executeTakeFirst()
  if (row) return
  await tx
    .insertInto('owners')
    .values({ crate_id: crateId, user_id: owner, added_at: change.at, added_by: null })
    .execute()
}
