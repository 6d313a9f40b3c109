import { renderEntry } from '../../../core/entry/render.ts'
import type { About } from '../../../core/manifest/manifest.ts'
import type { Name } from '../../../core/name.ts'
import type { Release } from '../../../core/release/release.ts'
import { type Version, versionIdentity } from '../../../core/version.ts'
import type { Change, Queries } from './change.ts'
import { type CrateRecord, readCrate } from './crates.ts'

/** A release of the catalog; `line` is its index line as published, without the line end. */
export interface ReleaseRecord {
  readonly id: number
  readonly version: Version
  readonly cksum: string
  readonly size: number
  readonly yanked: boolean
  readonly line: string
  readonly about: About
  readonly publishedAt: string | null
  readonly publishedBy: string | null
  readonly publisherId: number | null
}

/** One release of a crate, by the version without its build metadata. */
export async function findRelease(
  db: Queries,
  crateId: number,
  version: Version,
): Promise<ReleaseRecord | null> {
  const row = await selectReleases(db)
    .where('releases.crate_id', '=', crateId)
    .where('releases.identity', '=', versionIdentity(version))
    .executeTakeFirst()
  return row ? releaseRecord(row) : null
}

/** A release by its id, with its crate. */
export async function readRelease(
  db: Queries,
  id: number,
): Promise<{ readonly crate: CrateRecord; readonly release: ReleaseRecord } | null> {
  const row = await selectReleases(db).where('releases.id', '=', id).executeTakeFirst()
  const crate = row && (await readCrate(db, row.crate_id))
  return crate ? { crate, release: releaseRecord(row) } : null
}

/** All releases of a crate in publish order. */
export async function listReleases(db: Queries, crateId: number): Promise<ReleaseRecord[]> {
  const rows = await selectReleases(db)
    .where('releases.crate_id', '=', crateId)
    .orderBy('releases.id')
    .execute()
  return rows.map(releaseRecord)
}

/** What lists need of a release; there may be thousands of a crate. */
export interface VersionRecord {
  readonly id: number
  readonly version: Version
  readonly yanked: boolean
  readonly publishedAt: string | null
}

/** The versions of a crate in publish order. */
export async function listVersions(db: Queries, crateId: number): Promise<VersionRecord[]> {
  const rows = await db
    .selectFrom('releases')
    .select(['id', 'version', 'yanked', 'published_at'])
    .where('crate_id', '=', crateId)
    .orderBy('id')
    .execute()
  return rows.map(row => ({
    id: row.id,
    version: row.version as Version,
    yanked: row.yanked === 1,
    publishedAt: row.published_at,
  }))
}

/** The index lines of a crate in publish order. */
export async function indexLines(db: Queries, crateId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('releases')
    .select('line')
    .where('crate_id', '=', crateId)
    .orderBy('id')
    .execute()
  return rows.map(row => row.line)
}

/** README text of a release as packaged. */
export async function readReadme(db: Queries, releaseId: number): Promise<string | null> {
  const row = await db
    .selectFrom('releases')
    .select('readme')
    .where('id', '=', releaseId)
    .executeTakeFirst()
  return row?.readme ?? null
}

/** The release that has these bytes; null when none does. */
export async function releaseOfBytes(
  db: Queries,
  cksum: string,
): Promise<{ name: Name; version: Version } | null> {
  const row = await db
    .selectFrom('releases')
    .innerJoin('crates', 'crates.id', 'releases.crate_id')
    .select(['crates.name', 'releases.version'])
    .where('releases.cksum', '=', cksum)
    .executeTakeFirst()
  return row ? { name: row.name as Name, version: row.version as Version } : null
}

/** A new release, without crate, event and marks; gives its id. */
export async function insertRelease(
  tx: Queries,
  crateId: number,
  release: Release,
  change: Change,
): Promise<number> {
  const { id } = await tx
    .insertInto('releases')
    .values({
      crate_id: crateId,
      version: release.version,
      identity: versionIdentity(release.version),
      cksum: release.entry.cksum,
      size: release.size,
      yanked: Number(release.entry.yanked),
      line: renderEntry(release.entry),
      about: JSON.stringify(release.about),
      readme: release.readme,
      published_at: release.entry.pubtime,
      published_by: change.user?.id ?? null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

function selectReleases(db: Queries) {
  return db
    .selectFrom('releases')
    .leftJoin('users', 'users.id', 'releases.published_by')
    .select([
      'releases.id',
      'releases.crate_id',
      'releases.version',
      'releases.cksum',
      'releases.size',
      'releases.yanked',
      'releases.line',
      'releases.about',
      'releases.published_at',
      'releases.published_by',
      'users.login',
    ])
}

type ReleaseRow = Awaited<ReturnType<ReturnType<typeof selectReleases>['executeTakeFirstOrThrow']>>

function releaseRecord(row: ReleaseRow): ReleaseRecord {
  return {
    id: row.id,
    version: row.version as Version,
    cksum: row.cksum,
    size: row.size,
    yanked: row.yanked === 1,
    line: row.line,
    about: JSON.parse(row.about) as About,
    publishedAt: row.published_at,
    publishedBy: row.login,
    publisherId: row.published_by,
  }
}
