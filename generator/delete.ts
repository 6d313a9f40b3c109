import { parseEntry } from '../core/entry/parse.ts'
import { refuse } from '../core/error/error.ts'
import type { Name } from '../core/name.ts'
import { crateKey } from '../core/paths/crates.ts'
import { parseRequirement, satisfies } from '../core/requirement.ts'
import type { Version } from '../core/version.ts'
import { buildWhole } from './build/build.ts'
import { withoutRelease } from './build/orphans.ts'
import type { Registry } from './registry.ts'
import type { Change } from './store/catalog/change.ts'
import { type CrateRecord, findCrate } from './store/catalog/crates.ts'
import { mentions, removeReleases } from './store/catalog/release-changes.ts'
import { listReleases, type ReleaseRecord } from './store/catalog/releases.ts'

/** What to delete: one version of a crate, or all of them. */
export interface Deletion {
  readonly name: Name
  readonly version: Version | null
  /** Whether to delete even if other crates depend on it. */
  readonly force: boolean
}

/** What a deletion would remove. */
export interface DeletionPlan {
  readonly crate: CrateRecord
  readonly releases: readonly ReleaseRecord[]
  /** The releases of other crates that may need one of them, as `name version`. */
  readonly dependents: readonly string[]
}

/** Returns what a deletion would remove; refuses unknown crates and versions. */
export async function planDeletion(registry: Registry, deletion: Deletion): Promise<DeletionPlan> {
  const { name, version } = deletion
  const crate = await findCrate(registry.database, name)
  if (!crate) return refuse('crate_unknown', { name })
  const all = await listReleases(registry.database, crate.id)
  const releases = version === null ? all : all.filter(one => one.version === version)
  if (releases.length === 0)
    return refuse('release_unknown', { name: crate.name, version: version ?? '(any)' })
  return { crate, releases, dependents: await findDependents(registry, crate, releases) }
}

/**
 * Deletes releases permanently: records, then index and public tree, then the bytes. Refuses if
 * other crates depend on them, unless forced. Unlike a yank, this breaks builds locked to them.
 */
export async function deleteReleases(
  registry: Registry,
  deletion: Deletion,
  change: Change,
): Promise<DeletionPlan> {
  const plan = await planDeletion(registry, deletion)
  const { crate, releases, dependents } = plan
  if (dependents.length > 0 && !deletion.force) {
    const some = dependents.slice(0, 3).join(', ')
    refuse('delete_needed', { name: crate.name, count: dependents.length, some })
  }
  await removeReleases(registry.database, crate, releases, change)
  await buildWhole(registry, crate.id)
  for (const { cksum } of releases) {
    const key = crateKey(crate.name, cksum)
    await withoutRelease(registry, cksum, () => registry.crates.remove(key))
  }
  return plan
}

async function findDependents(
  registry: Registry,
  crate: CrateRecord,
  releases: readonly ReleaseRecord[],
): Promise<string[]> {
  const found: string[] = []
  for (const mention of await mentions(registry.database, crate)) {
    const deps = parseEntry(mention.line).deps.filter(
      one =>
        one.registry === null && one.kind !== 'dev' && (one.package ?? one.name) === crate.name,
    )
    const needs = deps.map(one => parseRequirement(one.req))
    if (needs.some(need => releases.some(one => satisfies(need, one.version))))
      found.push(`${mention.name} ${mention.version}`)
  }
  return found
}
