import type { Name } from '../../core/name.ts'
import { all, LIST, type Queries } from '../database/statement.ts'
import { CRATE } from './crates.ts'
import { sharesOwner } from './owners.ts'

/** Returns the releases that anybody may see, for a FROM or JOIN: what shows releases reads these. */
export const releasesAs = (alias: string) => `releases AS ${alias}`

export const RELEASES = releasesAs('releases')

/** The deprecations of a crate as JSON, in a statement on a table with its id. */
export function deprecationsOf(crateId: string): string {
  return `(SELECT json_group_array(json_object('requirement', requirement, 'reason', reason,
    'use', successor)) FROM deprecations WHERE deprecations.crate_id = ${crateId}) AS deprecations`
}

/** Why a release is yanked; an older daemon that undoes a yank leaves the reason behind. */
export const YANK_REASON = 'CASE WHEN releases.yanked = 1 THEN yank_reason END AS "yankReason"'

/** The ids of the releases of a crate, for an IN. */
export const IDS_OF_CRATE = `(SELECT id FROM ${RELEASES} WHERE crate_id = ?)`

/** Returns the id of the crate of a release, whose id is an expression of SQL. */
export const crateOf = (id: string) => `(SELECT crate_id FROM ${RELEASES} WHERE id = ${id})`

/** Selects the listing of a crate, with the metadata of its newest version. */
export const LISTING = `SELECT listings.crate_id, listings.canonical, newest_id, latest_id,
    stable_id, max_id, versions, listings.yanked, updated_at, bytes,
    releases.version, releases.about, releases.line ->> 'deps' AS deps, highest.version AS highest
  FROM listings JOIN ${RELEASES} ON releases.id = listings.newest_id
  LEFT JOIN ${releasesAs('highest')} ON highest.id = listings.max_id
  WHERE listings.crate_id = ?`

/** Selects a row if a listing is not what its releases say. */
export const WRONG_LISTINGS = `
  SELECT 1 FROM (SELECT crate_id, count(*) AS n, min(yanked) AS yanked
      FROM ${RELEASES} GROUP BY crate_id) AS have
    LEFT JOIN listings ON listings.crate_id = have.crate_id
    WHERE listings.versions IS DISTINCT FROM have.n OR listings.yanked IS DISTINCT FROM have.yanked
  UNION ALL SELECT 1 FROM listings LEFT JOIN ${RELEASES} ON releases.id = listings.newest_id
    WHERE releases.crate_id IS DISTINCT FROM listings.crate_id
  LIMIT 1`

/** Whether the versions of a crate come from CI only; prefixes are few. */
const TRUSTED_ONLY = `CASE WHEN EXISTS (SELECT 1 FROM trust_only WHERE pattern = crates.canonical)
  OR EXISTS (SELECT 1 FROM trust_only WHERE is_prefix = 1
    AND substr(crates.canonical, 1, length(pattern) - 1) || '*' = pattern) THEN 1 ELSE 0 END`

/** Chooses the cards of crates with yanked or deprecated versions. */
export const DISCOURAGED = `WHERE crates.canonical IN ${LIST} AND (
    EXISTS (SELECT 1 FROM ${RELEASES} WHERE crate_id = crates.id AND yanked = 1)
    OR EXISTS (SELECT 1 FROM deprecations WHERE crate_id = crates.id)
    OR instr(newest.about, '"maintenance":{"status":"deprecated"') > 0)`

/** Selects the cards of crates, for `selectCards`. */
export const CARDS = `SELECT ${CRATE}, nullif(listings.updated_at, '') AS "updatedAt",
    listings.versions, listings.yanked, listings.dependents, listings.bytes,
    newest.id AS "newestId", newest.version AS newest, newest.about,
    ${deprecationsOf('crates.id')},
    latest.version AS latest, stable.version AS stable,
    coalesce(highest.version, newest.version) AS highest, ${TRUSTED_ONLY} AS "trustedOnly"
  FROM crates JOIN listings ON listings.crate_id = crates.id
  JOIN ${releasesAs('newest')} ON newest.id = listings.newest_id
  JOIN ${releasesAs('latest')} ON latest.id = listings.latest_id
  LEFT JOIN ${releasesAs('stable')} ON stable.id = listings.stable_id
  LEFT JOIN ${releasesAs('highest')} ON highest.id = listings.max_id`

/** Selects what the terms of marked crates are made of; `owners` is an expression for logins. */
export const findableWith = (owners: string) => `SELECT marked.id, search_crates.terms AS before,
    crates.canonical, listings.dependents, listings.yanked,
    core.dependents AS "coreDependents", core_newest.about AS "coreAbout",
    releases.about, substr(releases.readme, 1, 8192) AS readme,
    releases.line ->> 'rust_version' AS rust,
    releases.version AS newest, ${deprecationsOf('crates.id')}, ${owners} AS owners,
    CASE WHEN EXISTS (SELECT 1 FROM advisory_crates WHERE crate = crates.canonical)
      THEN 1 ELSE 0 END AS "isAdvised"
  FROM (SELECT CAST(value ->> 'subject' AS INTEGER) AS id FROM json_each(?)) AS marked
  LEFT JOIN crates ON crates.id = marked.id
  LEFT JOIN search_crates ON search_crates.crate_id = marked.id
  LEFT JOIN listings ON listings.crate_id = crates.id
  LEFT JOIN ${RELEASES} ON releases.id = listings.newest_id
  LEFT JOIN dependents ON dependents.dependency = crates.canonical || '_core'
    AND dependents.dependent = crates.canonical
  LEFT JOIN listings AS core ON core.canonical = dependents.dependency
    AND ${sharesOwner('core.crate_id')}
  LEFT JOIN ${releasesAs('core_newest')} ON core_newest.id = core.newest_id`

/** Selects the advisories on crates of some names, with the own versions that are not yanked. */
export const ADVISED = `SELECT crate, json_group_array(content) AS contents,
    (SELECT json_group_array(identity) FROM ${RELEASES}
      WHERE yanked = 0 AND crate_id = (SELECT id FROM crates WHERE canonical = crate)) AS versions
  FROM advisory_crates JOIN advisories ON advisories.id = advisory_id
  WHERE crate IN ${LIST} GROUP BY crate`

/** Selects a crate for its page. */
export const PAGE_CRATE = `SELECT ${CRATE}, coalesce(listings.dependents, 0) AS dependents,
    EXISTS (SELECT 1 FROM crate_downloads
      WHERE crate_id = crates.id AND shown_at IS NOT NULL) AS "hasDownloads",
    newest_id AS "newestId", releases.readme, marks.generation AS "newestMark"
  FROM crates LEFT JOIN listings ON listings.crate_id = crates.id
  LEFT JOIN ${RELEASES} ON releases.id = newest_id
  LEFT JOIN marks ON marks.kind = 'release' AND marks.subject = newest_id
    AND marks.retry_at IS NULL
  WHERE crates.id = ?`

/** Selects crates that depend on one, by name, which no change of another crate moves. */
export const DEPENDENTS = `SELECT crates.name, releases.version, releases.line ->> 'deps' AS deps
  FROM dependents JOIN crates ON crates.id = dependents.crate_id
  JOIN listings ON listings.crate_id = crates.id
  JOIN ${RELEASES} ON releases.id = newest_id
  WHERE dependency = ? ORDER BY dependent LIMIT ?`

/** Selects the time of the latest release. */
export const LAST_PUBLISHED = `SELECT max(published_at) FROM ${RELEASES}`

/** Counts what is new between two days, in indexes. */
export const NEW = `SELECT
  (SELECT count(*) FROM ${RELEASES} WHERE published_at >= ? AND published_at < ?) AS releases,
  (SELECT count(*) FROM crates WHERE created_at >= ? AND created_at < ?) AS crates`

/** Selects facts about releases, whose ids their keys end with. */
export const RELEASE_FACTS = `SELECT crates.name, releases.version, facts.value
  FROM facts JOIN ${RELEASES} ON releases.id = CAST(substr(facts.key, ?) AS INTEGER)
  JOIN crates ON crates.id = releases.crate_id WHERE facts.key >= ? AND facts.key < ?`

/** Selects marks that failed, with crate and version; the kinds of releases and those of crates. */
export const FAILED_MARKS = `SELECT marks.kind, coalesce(owner.name, crates.name) AS crate,
    releases.version, marks.attempts, marks.retry_at AS "retryAt",
    coalesce(marks.error, '') AS error
  FROM marks
  LEFT JOIN ${RELEASES} ON releases.id = marks.subject AND marks.kind IN ${LIST}
  LEFT JOIN crates AS owner ON owner.id = releases.crate_id
  LEFT JOIN crates ON crates.id = marks.subject AND marks.kind IN ${LIST}
  WHERE marks.retry_at IS NOT NULL ORDER BY marks.retry_at LIMIT ?`

/** Selects releases by name and version, then others by checksum, with their places in the lists. */
export const DOWNLOADED = `
  SELECT CAST(given.value ->> 0 AS INTEGER) AS at, releases.id, releases.crate_id AS crate
    FROM json_each(?) AS given JOIN crates ON crates.canonical = given.value ->> 1
    JOIN ${RELEASES} ON releases.crate_id = crates.id AND releases.identity = given.value ->> 2
  UNION ALL SELECT CAST(given.value ->> 0 AS INTEGER), releases.id, releases.crate_id
    FROM json_each(?) AS given JOIN ${RELEASES} ON releases.cksum = given.value ->> 1`

/** Selects the crates whose downloads are not the sum of those of their releases. */
export const WRONG_DOWNLOADS = `
  SELECT crate_id FROM (
    SELECT releases.crate_id, sum(total) AS n FROM release_downloads
      JOIN ${RELEASES} ON releases.id = release_id GROUP BY 1) AS have
    FULL JOIN crate_downloads USING (crate_id)
    WHERE have.n IS DISTINCT FROM crate_downloads.total`

/** A crate with its releases in publish order, each as `cksum yanked version`. */
export interface CrateContents {
  readonly id: number
  readonly name: Name
  readonly releases: readonly string[]
}

/** Yields all crates by id with their releases; one statement reads some hundred of them. */
export async function* eachContents(db: Queries): AsyncIterable<CrateContents> {
  const sql = `SELECT id, name, (SELECT json_group_array(cksum || ' ' || yanked || ' ' || version)
      FROM (SELECT cksum, yanked, version FROM ${RELEASES} WHERE crate_id = crates.id ORDER BY id)
    ) AS releases FROM crates WHERE id > ? ORDER BY id LIMIT 500`
  type Read = Omit<CrateContents, 'releases'> & { readonly releases: string }
  const read = (after: number) => all<Read>(db, sql, after)
  for (let rows = await read(0); rows.length > 0; rows = await read(rows.at(-1)?.id ?? 0))
    for (const { releases, ...crate } of rows) yield { ...crate, releases: JSON.parse(releases) }
}
