import { compareVersions, type Version } from '../../../core/version.ts'
import { LIST, type Queries, run } from '../../database/statement.ts'
import type { CrateChange } from '../../records/crate-change.ts'
import { type MarkSubject, marksOf } from '../../records/marks.ts'
import { listIdentities, type Numbered } from '../../records/releases.ts'

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
