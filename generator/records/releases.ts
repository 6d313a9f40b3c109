import { type Dependency, indexText } from '../../core/entry/entry.ts'
import type { About } from '../../core/manifest/manifest.ts'
import type { Name } from '../../core/name.ts'
import { type Deprecation, deprecationOf } from '../../core/notes/notes.ts'
import { crateKey, releaseOfFolder, releaseOfPath } from '../../core/paths/crates.ts'
import type { Contents } from '../../core/tarball/contents.ts'
import type { Job } from '../../core/trust/job.ts'
import { type Version, versionIdentity } from '../../core/version.ts'
import { pace } from '../database/pace.ts'
import { all, column, first, LIST, type Queries, type Row, value } from '../database/statement.ts'
import { CRATE, type CrateRecord, findCrate } from './crates.ts'
import type { Mark } from './marks.ts'
import { deprecationsOf, RELEASES, YANK_REASON } from './releases-view.ts'

/** The column of who published a release, from `users`; null for somebody who is not known. */
export const PUBLISHER =
  "CASE WHEN users.removed_at IS NULL THEN users.login ELSE users.login || ' (removed)' END"

/** A release as lists need it; a crate may have thousands. */
export interface VersionRecord {
  readonly id: number
  readonly version: Version
  readonly cksum: string
  readonly yanked: boolean
  readonly size: number
  readonly publishedAt: string | null
  readonly yankReason?: string | null
}

/** A release of the records; `line` is its index line as published, without the line end. */
export interface ReleaseRecord extends VersionRecord {
  readonly line: string
  /** From the index line, which may have thousands of features and takes long to read. */
  readonly rust_version: string | null
  readonly about: About
  /** Null for an archive that cannot be read. */
  readonly contents: Contents | null
  readonly publishedBy: string | null
  readonly publisherId: number | null
  /** The job of a CI system that published it; null for people. */
  readonly job: Job | null
  readonly yankReason: string | null
  readonly deprecation: Deprecation | null
}

/** A record as stored, with a flag as a number and with JSON text. */
export type Stored<T> = Omit<T, 'yanked' | 'about' | 'deprecation'> &
  Pick<Row<'releases'>, 'yanked' | 'about'> & { readonly deprecations: string | null }

/** Returns a record from its stored form; `version` is what the record is about. */
export function recordOf<R extends Pick<Stored<unknown>, 'yanked' | 'about' | 'deprecations'>>(
  { deprecations, ...row }: R,
  version: Version,
) {
  const about = JSON.parse(row.about) as About
  const said = JSON.parse(deprecations ?? '[]') as Deprecation[]
  const deprecation = deprecationOf(said, version, about)
  return { ...row, yanked: row.yanked === 1, about, deprecation }
}

type StoredRelease<R = ReleaseRecord> = Omit<Stored<R>, 'contents' | 'job'> &
  Pick<Row<'releases'>, 'contents' | 'job'>

function releaseOf<R extends StoredRelease<Pick<ReleaseRecord, 'version'>>>(row: R) {
  const contents = JSON.parse(row.contents ?? 'null') as Contents | null
  const job = JSON.parse(row.job ?? 'null') as Job | null
  return Object.assign(recordOf(row, row.version), { contents, job })
}

const COLUMNS = `releases.id, releases.version, releases.cksum, releases.size,
    releases.yanked, releases.about, releases.contents, releases.published_at AS "publishedAt",
    releases.published_by AS "publisherId", ${PUBLISHER} AS "publishedBy",
    releases.line ->> 'rust_version' AS rust_version, releases.job,
    ${YANK_REASON}, ${deprecationsOf('releases.crate_id')}`
const FROM = `FROM ${RELEASES}
  LEFT JOIN users ON users.id = releases.published_by`

const SELECT_RELEASES = `SELECT ${COLUMNS}, releases.line ${FROM}`
const SELECT_SUMMARIES = `SELECT ${COLUMNS}, releases.line ->> 'links' AS links,
    CASE WHEN length(releases.line) <= ? THEN releases.line END AS line
  ${FROM}`

const SLICE = 50

/** Finds a release of a crate by version, ignoring build metadata; null when there is none. */
export async function findRelease(
  db: Queries,
  crateId: number,
  version: Version,
): Promise<ReleaseRecord | null> {
  const sql = `${SELECT_RELEASES} WHERE releases.crate_id = ? AND releases.identity = ?`
  const row = await first<StoredRelease>(db, sql, crateId, versionIdentity(version))
  return row && releaseOf(row)
}

/** Returns a release by its id, with its crate; null when there is none. */
export async function readRelease(
  db: Queries,
  id: number,
): Promise<{ readonly crate: CrateRecord; readonly release: ReleaseRecord } | null> {
  const row = await first<StoredRelease>(db, `${SELECT_RELEASES} WHERE releases.id = ?`, id)
  const sql = `SELECT ${CRATE} FROM crates
    WHERE id = (SELECT crate_id FROM ${RELEASES} WHERE id = ?)`
  const crate = row && (await first<CrateRecord>(db, sql, id))
  return crate && { crate, release: releaseOf(row) }
}

/** Returns all releases of a crate in publish order; others get a turn meanwhile. */
export async function listReleases(db: Queries, crateId: number): Promise<ReleaseRecord[]> {
  const sql = `${SELECT_RELEASES} WHERE releases.id IN
    (SELECT id FROM ${RELEASES} WHERE crate_id = ? AND id > ?
      ORDER BY id LIMIT ${SLICE})
    ORDER BY releases.id`
  const releases: ReleaseRecord[] = []
  for (let isMore = true; isMore; ) {
    const page = await all<StoredRelease>(db, sql, crateId, releases.at(-1)?.id ?? 0)
    for (const row of page) releases.push(releaseOf(row))
    isMore = page.length === SLICE
    await pace()
  }
  return releases
}

/** A release whose index line may have been left out because it is long. */
export interface ReleaseSummary extends Omit<ReleaseRecord, 'line'> {
  readonly line: string | null
  readonly links: string | null
}

/**
 * Returns releases in the order of `ids`, each with its index line if that has at most `length`
 * characters; others get a turn meanwhile.
 */
export async function readSummaries(
  db: Queries,
  ids: readonly number[],
  length: number,
): Promise<ReleaseSummary[]> {
  const sql = `${SELECT_SUMMARIES} WHERE releases.id IN ${LIST}`
  const summaries = new Map<number, ReleaseSummary>()
  for (let from = 0; from < ids.length; from += SLICE) {
    const slice = ids.slice(from, from + SLICE)
    for (const row of await all<StoredRelease<ReleaseSummary>>(db, sql, length, slice))
      summaries.set(row.id, releaseOf(row))
    await pace()
  }
  return ids.flatMap(id => summaries.get(id) ?? [])
}

/** Returns the dependencies of releases by id, without the checks of `parseEntry`. */
export async function releaseDependencies(
  db: Queries,
  ids: readonly number[],
): Promise<ReadonlyMap<number, readonly Dependency[]>> {
  const sql = `SELECT id, releases.line ->> 'deps' AS deps
    FROM ${RELEASES} WHERE id IN ${LIST}`
  const rows = await all<{ id: number; deps: string }>(db, sql, ids)
  return new Map(rows.map(({ id, deps }) => [id, JSON.parse(deps) as Dependency[]]))
}

/** Returns the versions of a crate in publish order. */
export async function listVersions(db: Queries, crateId: number): Promise<VersionRecord[]> {
  const sql = `SELECT id, version, cksum, yanked, size, published_at AS "publishedAt",
      ${YANK_REASON}
    FROM ${RELEASES} WHERE crate_id = ? ORDER BY id`
  const rows = await all<Omit<VersionRecord, 'yanked'> & Pick<Row<'releases'>, 'yanked'>>(
    db,
    sql,
    crateId,
  )
  return rows.map(row => ({ ...row, yanked: row.yanked === 1 }))
}

/** The mark of a release whose `.crate` is not yet shown in the public tree. */
export type FileMark = Mark & Pick<VersionRecord, 'version' | 'cksum'>

/** A crate with the text of its index file; null when it has no versions. */
export interface IndexedCrate extends CrateRecord {
  readonly text: string | null
  /** The releases to show, in publish order; a mark that is not set has the generation -1. */
  readonly unshown: readonly FileMark[]
}

/**
 * Returns crates with their index files, one line for each version, in publish order; and with the
 * releases that are marked to be shown, or `all`. The lines are joined in the database, because
 * rows of their own would take several times as long.
 */
export async function indexFiles(
  db: Queries,
  crateIds: readonly number[],
  which: 'marked' | 'all' = 'marked',
): Promise<IndexedCrate[]> {
  const marks = "marks ON marks.kind = 'file' AND marks.subject = releases.id"
  const from = {
    all: `${RELEASES} LEFT JOIN ${marks} WHERE`,
    marked: `${RELEASES} CROSS JOIN ${marks} WHERE EXISTS (SELECT 1 FROM marks WHERE kind = 'file') AND`,
  }
  const sql = `SELECT ${CRATE}, (SELECT string_agg(line, '\n')
      FROM (SELECT line FROM ${RELEASES} WHERE crate_id = crates.id ORDER BY id) AS lines) AS lines,
    (SELECT json_group_array(json_object('kind', 'file', 'subject', releases.id,
        'generation', coalesce(marks.generation, -1), 'version', version, 'cksum', cksum))
      FROM ${from[which]} crate_id = crates.id) AS unshown
    FROM crates WHERE crates.id IN ${LIST}`
  type Found = CrateRecord & { readonly lines: string | null; readonly unshown: string | null }
  const crates = await all<Found>(db, sql, crateIds)
  return crates.map(({ lines, unshown, ...crate }) => {
    const releases = JSON.parse(unshown ?? '[]') as FileMark[]
    const text = lines === null ? null : indexText(lines)
    return { ...crate, text, unshown: releases.sort((a, b) => a.subject - b.subject) }
  })
}

/** The stored metadata of a release; `deps` is from its index line. */
export type StoredMetadata = Pick<Row<'releases'>, 'about'> & { readonly deps: string }

/** A version without build metadata. */
export interface Numbered {
  readonly id: number
  readonly version: Version
}

/**
 * Returns the versions of a crate, without build metadata. They are read from a database index, as
 * one text: a row for each would take three times as long.
 */
export async function listIdentities(db: Queries, crateId: number): Promise<Numbered[]> {
  const sql = `SELECT json_group_array(json_object('id', id, 'version', identity))
    FROM ${RELEASES} WHERE crate_id = ?`
  return JSON.parse((await value<string>(db, sql, crateId)) ?? '[]') as Numbered[]
}

/** Returns the releases of other crates whose index line mentions `crate`; reads every release. */
export function mentions(db: Queries, crate: CrateRecord) {
  const sql = `SELECT crates.name, releases.version, releases.line
    FROM ${RELEASES} JOIN crates ON crates.id = releases.crate_id
    WHERE releases.crate_id <> ? AND instr(releases.line, ?) > 0`
  type Mention = Pick<Row<'crates'>, 'name'> & Pick<Row<'releases'>, 'version' | 'line'>
  return all<Mention>(db, sql, crate.id, JSON.stringify(crate.name))
}

/** A version as shown in the list of updates. */
export interface RecentRelease
  extends Pick<CrateRecord, 'name'>,
    Pick<ReleaseRecord, 'version' | 'yanked' | 'yankReason' | 'about' | 'publishedBy'> {
  readonly deprecation: Deprecation | null
  readonly publishedAt: string
}

/** Returns the last published versions, newest first, except those of unknown time. */
export async function recentReleases(db: Queries, limit: number): Promise<RecentRelease[]> {
  const sql = `SELECT crates.name, releases.version, releases.yanked, releases.about,
      ${YANK_REASON}, ${deprecationsOf('crates.id')},
      releases.published_at AS "publishedAt", ${PUBLISHER} AS "publishedBy"
    ${FROM} JOIN crates ON crates.id = releases.crate_id
    WHERE releases.published_at IS NOT NULL
    ORDER BY releases.published_at DESC, releases.id DESC LIMIT ?`
  const rows = await all<Stored<RecentRelease>>(db, sql, limit)
  return rows.map(row => recordOf(row, row.version))
}

/** Returns the versions that a user has published. */
export function publishedBy(
  db: Queries,
  userId: number,
): Promise<(Pick<VersionRecord, 'id' | 'version'> & { readonly crate: number })[]> {
  const sql = `SELECT crate_id AS crate, id, version FROM ${RELEASES} WHERE published_by = ?`
  return all(db, sql, userId)
}

/** Selects every release as the `subject` of marks (see `bySubject`). */
export const EVERY_RELEASE = `SELECT releases.id AS subject, generation, name AS about
  FROM ${RELEASES} JOIN crates ON crates.id = crate_id`

/** Returns the README text of a release as packaged; null when there is none. */
export function readReadme(db: Queries, releaseId: number): Promise<string | null> {
  return value(db, `SELECT readme FROM ${RELEASES} WHERE id = ?`, releaseId)
}

/** Returns the key of the release whose `.crate` or folder is at a path; null when there is none. */
export async function keyAtPath(db: Queries, path: string): Promise<string | null> {
  const release = releaseOfPath(path) ?? releaseOfFolder(path)
  const crate = release && (await findCrate(db, release.name))
  const existing = crate && (await findRelease(db, crate.id, release.version))
  if (!existing || crate.name !== release.name || existing.version !== release.version) return null
  return crateKey(crate.name, existing.cksum)
}

/** Returns the versions of a crate that were ever deleted, also those that are back since. */
export async function deletedVersions(db: Queries, crate: Name): Promise<Version[]> {
  // Written so that no index of actions is used: that has the deletions of all crates.
  const sql = "SELECT DISTINCT version FROM audit WHERE crate = ? AND action || '' = 'delete'"
  return column(db, sql, crate)
}

/** A release that was just stored, with its metadata as stored. */
export type NewRelease = VersionRecord & StoredMetadata & { readonly locked: string }
