import { renderEntry } from '../../../core/entry/render.ts'
import type { About } from '../../../core/manifest/manifest.ts'
import type { Name } from '../../../core/name.ts'
import type { Release } from '../../../core/release/release.ts'
import { type Version, versionIdentity } from '../../../core/version.ts'
import { all, first, insert, type Queries, type Row } from '../database/statement.ts'
import type { Change } from './change.ts'
import { CRATE, type CrateRecord } from './crates.ts'

/** What lists need of a release; there may be thousands of a crate. */
export interface VersionRecord {
  readonly id: number
  readonly version: Version
  readonly yanked: boolean
  readonly publishedAt: string | null
}

/** A release of the catalog; `line` is its index line as published, without the line end. */
export interface ReleaseRecord extends VersionRecord {
  readonly cksum: string
  readonly size: number
  readonly line: string
  readonly about: About
  readonly publishedBy: string | null
  readonly publisherId: number | null
}

type ReleaseRow = Omit<ReleaseRecord, 'yanked' | 'about'> &
  Pick<Row<'releases'>, 'yanked' | 'about'>

const SELECT_RELEASES = `SELECT releases.id, releases.version, releases.cksum, releases.size,
    releases.yanked, releases.line, releases.about, releases.published_at AS "publishedAt",
    releases.published_by AS "publisherId", users.login AS "publishedBy"
  FROM releases LEFT JOIN users ON users.id = releases.published_by`

function releaseRecord(row: ReleaseRow): ReleaseRecord {
  return { ...row, yanked: row.yanked === 1, about: JSON.parse(row.about) as About }
}

/** One release of a crate, by the version without its build metadata. */
export async function findRelease(
  db: Queries,
  crateId: number,
  version: Version,
): Promise<ReleaseRecord | null> {
  const text = `${SELECT_RELEASES} WHERE releases.crate_id = ? AND releases.identity = ?`
  const row = await first<ReleaseRow>(db, text, crateId, versionIdentity(version))
  return row && releaseRecord(row)
}

/** A release by its id, with its crate. */
export async function readRelease(
  db: Queries,
  id: number,
): Promise<{ readonly crate: CrateRecord; readonly release: ReleaseRecord } | null> {
  const row = await first<ReleaseRow>(db, `${SELECT_RELEASES} WHERE releases.id = ?`, id)
  const text = `SELECT ${CRATE} FROM crates
    WHERE id = (SELECT crate_id FROM releases WHERE id = ?)`
  const crate = row && (await first<CrateRecord>(db, text, id))
  return crate && { crate, release: releaseRecord(row) }
}

/** All releases of a crate in publish order. */
export async function listReleases(db: Queries, crateId: number): Promise<ReleaseRecord[]> {
  const text = `${SELECT_RELEASES} WHERE releases.crate_id = ? ORDER BY releases.id`
  return (await all<ReleaseRow>(db, text, crateId)).map(releaseRecord)
}

/** The versions of a crate in publish order. */
export async function listVersions(db: Queries, crateId: number): Promise<VersionRecord[]> {
  const rows = await all<Omit<VersionRecord, 'yanked'> & Pick<Row<'releases'>, 'yanked'>>(
    db,
    `SELECT id, version, yanked, published_at AS "publishedAt"
      FROM releases WHERE crate_id = ? ORDER BY id`,
    crateId,
  )
  return rows.map(row => ({ ...row, yanked: row.yanked === 1 }))
}

/** The index lines of a crate in publish order. */
export async function indexLines(db: Queries, crateId: number): Promise<string[]> {
  const text = 'SELECT line FROM releases WHERE crate_id = ? ORDER BY id'
  const rows = await all<Pick<Row<'releases'>, 'line'>>(db, text, crateId)
  return rows.map(row => row.line)
}

/** README text of a release as packaged. */
export async function readReadme(db: Queries, releaseId: number): Promise<string | null> {
  const text = 'SELECT readme FROM releases WHERE id = ?'
  return (await first<Pick<Row<'releases'>, 'readme'>>(db, text, releaseId))?.readme ?? null
}

/** The release that has these bytes; null when none does. */
export function releaseOfBytes(
  db: Queries,
  cksum: string,
): Promise<{ name: Name; version: Version } | null> {
  return first(
    db,
    `SELECT crates.name, releases.version
      FROM releases JOIN crates ON crates.id = releases.crate_id WHERE releases.cksum = ?`,
    cksum,
  )
}

/** A new release, without crate, event and marks; gives its id. */
export function insertRelease(
  tx: Queries,
  crateId: number,
  release: Release,
  change: Change,
): Promise<number> {
  return insert(tx, 'releases', {
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
}
