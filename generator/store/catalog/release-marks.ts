import { compareVersions, type Version } from '../../../core/version.ts'
import { mark } from './marks.ts'
import { versionIds } from './pages/page-facts.ts'
import type { Queries } from './record.ts'

/** Marks what shows a release that has come: its own page, its sources, and the page of the version after it. */
export async function markNewRelease(
  tx: Queries,
  crateId: number,
  release: { readonly id: number; readonly version: Version },
  generation: number,
): Promise<void> {
  await mark(tx, { kind: 'release', subject: release.id, generation })
  await mark(tx, { kind: 'source', subject: release.id, generation })
  await markNextRelease(tx, crateId, release.version, generation)
}

/** Marks the page of the version after one that has come or gone: it says what changed since the version before it. */
export async function markNextRelease(
  tx: Queries,
  crateId: number,
  version: Version,
  generation: number,
): Promise<void> {
  let next: { readonly id: number; readonly version: Version } | null = null
  for (const one of await versionIds(tx, crateId)) {
    if (compareVersions(one.version, version) <= 0) continue
    if (next === null || compareVersions(one.version, next.version) < 0) next = one
  }
  if (next) await mark(tx, { kind: 'release', subject: next.id, generation })
}
