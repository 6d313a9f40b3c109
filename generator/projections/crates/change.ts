import { compareVersions, type Version } from '../../../core/version.ts'
import { first, LIST, type Queries, run } from '../../database/statement.ts'
import type { CrateChange } from '../../records/crate-change.ts'
import { CRATE, type CrateRecord } from '../../records/crates.ts'
import { type MarkSubject, marksOf } from '../../records/marks.ts'
import { listIdentities, type Numbered } from '../../records/releases.ts'
import { RELEASES } from '../../records/releases-view.ts'

/** Returns the marks of the versions whose pages show a change of their crate. */
export async function changedReleases(
  tx: Queries,
  { crate, before, added, altered, removed }: CrateChange,
): Promise<readonly MarkSubject[]> {
  const gone = removed.map(version => version.id)
  const sql = `DELETE FROM marks WHERE kind = 'release' AND subject IN ${LIST}`
  if (gone.length > 0) await run(tx, sql, gone)
  const own = [...added, ...altered].map(version => version.id)
  const moved = [...added, ...removed]
  // The first version of a crate changes no other page.
  if (moved.length === 0 || (before === null && moved.length === 1)) return marksOf('release', own)
  const versions = await listIdentities(tx, crate.id)
  // Many change together in an import only.
  if (moved.length > 1) return marksOf('release', [...own, ...versions.map(({ id }) => id)])
  return marksOf('release', [...own, ...moved.flatMap(({ version }) => nextOf(versions, version))])
}

/**
 * Returns the id of the next higher version, if there is one: its pages show the changes since the
 * version before it, which was added or removed.
 */
function nextOf(versions: readonly Numbered[], version: Version): number[] {
  const higher = versions.filter(other => compareVersions(other.version, version) > 0)
  const [next] = higher.sort((a, b) => compareVersions(a.version, b.version))
  return next ? [next.id] : []
}

/** A crate as its page shows it, besides its releases. */
export interface PageCrate extends CrateRecord {
  readonly dependents: number
  readonly hasDownloads: 0 | 1
  /** The newest release, and its README; null while there is none. */
  readonly newestId: number | null
  readonly readme: string | null
  /** The generation of its mark; null if it has none, or if it failed before. */
  readonly newestMark: number | null
}

/** Reads a crate for its page; null when there is none. */
export function readPageCrate(db: Queries, id: number): Promise<PageCrate | null> {
  const sql = `SELECT ${CRATE}, coalesce(listings.dependents, 0) AS dependents,
      EXISTS (SELECT 1 FROM crate_downloads
        WHERE crate_id = crates.id AND shown_at IS NOT NULL) AS "hasDownloads",
      newest_id AS "newestId", releases.readme, marks.generation AS "newestMark"
    FROM crates LEFT JOIN listings ON listings.crate_id = crates.id
    LEFT JOIN ${RELEASES} ON releases.id = newest_id
    LEFT JOIN marks ON marks.kind = 'release' AND marks.subject = newest_id
      AND marks.retry_at IS NULL
    WHERE crates.id = ?`
  return first(db, sql, id)
}
