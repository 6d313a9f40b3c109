import { readEntry } from '../../../core/entry/parse.ts'
import { issue, Refusal, refuse } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import { crateKey } from '../../../core/paths/crates.ts'
import { matcher, parseRequirement } from '../../../core/requirement.ts'
import { requireThisBuild, type Version, versionIdentity } from '../../../core/version.ts'
import { pace } from '../../database/pace.ts'
import { showing, systemRefusal } from '../../places/disk/fault.ts'
import { rebuildCrate } from '../../projections/index/show.ts'
import type { Change } from '../../records/change.ts'
import { type CrateRecord, requireCrate } from '../../records/crates.ts'
import { listReleases, mentions, type ReleaseRecord } from '../../records/releases.ts'
import { removeReleases } from '../../records/releases-changes.ts'
import { listTombstones, type Tombstone } from '../../records/releases-stored.ts'
import type { Registry } from '../registry.ts'
import { withoutRelease } from './another-writer.ts'

/** The wish to delete a version of a crate, or all of them. */
export interface Deletion {
  readonly name: Name
  readonly version: Version | null
  /** Whether to delete even if other crates depend on it. */
  readonly force: boolean
  /** The text that Cargo shows to who downloads the version or publishes it again. */
  readonly reason?: string | undefined
}

/** The effect of a deletion. */
export interface DeletionPlan {
  readonly crate: CrateRecord
  readonly releases: readonly ReleaseRecord[]
  /** Versions that were deleted before, but failed or were killed before their bytes were gone. */
  readonly unfinished: readonly Tombstone[]
  /** The releases of other crates that may need one of them, as `name version`. */
  readonly dependents: readonly string[]
}

/** Returns what a deletion would remove; refuses unknown crates and versions. */
export async function planDeletion(registry: Registry, deletion: Deletion): Promise<DeletionPlan> {
  const { name, version } = deletion
  const crate = await requireCrate(registry.database, name)
  const all = await listReleases(registry.database, crate.id)
  const releases = version === null ? all : all.filter(release => release.version === version)
  const unfinished = await listUnfinished(registry, crate, version)
  if (releases.length === 0 && unfinished.length === 0) {
    if (version === null) return refuse('crate_unknown', { name: crate.name })
    const wanted = { name: crate.name, version }
    requireThisBuild(
      all.map(release => release.version),
      wanted,
    )
    return refuse('release_unknown', wanted)
  }
  return {
    crate,
    releases,
    unfinished,
    dependents: await findDependents(registry, crate, releases),
  }
}

/**
 * Deletes releases permanently: records, then index and public tree, then the bytes. Refuses if
 * other crates depend on them, unless forced. Unlike a yank, this breaks builds locked to them.
 * If it fails after the records are deleted, the next call finishes it.
 */
export async function deleteReleases(
  registry: Registry,
  deletion: Deletion,
  change: Change,
): Promise<DeletionPlan> {
  const plan = await planDeletion(registry, deletion)
  const { crate, releases, unfinished, dependents } = plan
  if (dependents.length > 0 && !deletion.force) {
    const examples = dependents.slice(0, 3).join(', ')
    refuse('delete_needed', { name: crate.name, count: dependents.length, some: examples })
  }
  if (releases.length > 0)
    await removeReleases(registry, crate, releases, deletion.reason ?? null, change)
  try {
    await showing(async () => {
      await registry.mutex.run(() => rebuildCrate(registry, crate.id))
      for (const { cksum } of [...releases, ...unfinished]) {
        const key = crateKey(crate.name, cksum)
        await withoutRelease(registry, cksum, () => registry.crates.remove(key))
      }
    })
  } catch (error) {
    const reason = error instanceof Refusal ? error : systemRefusal(error, 'operator')
    if (!reason) throw error
    const first = issue('delete_unfinished', { name: crate.name })
    throw new Refusal([first, ...reason.issues], { cause: error })
  }
  return plan
}

/** Lists the versions of a crate, or the one, that were deleted and whose bytes are still there. */
async function listUnfinished(
  { crates, database }: Registry,
  crate: CrateRecord,
  version: Version | null,
): Promise<Tombstone[]> {
  const tombstones: Tombstone[] = []
  for (const tombstone of await listTombstones(database, crate.id)) {
    if (version !== null && tombstone.version !== versionIdentity(version)) continue
    if ((await crates.size(crateKey(crate.name, tombstone.cksum))) !== null)
      tombstones.push(tombstone)
  }
  return tombstones
}

/** The most requirements of one release that are compared; one with more counts as a dependent. */
const COMPARED = 10

async function findDependents(
  registry: Registry,
  crate: CrateRecord,
  releases: readonly ReleaseRecord[],
): Promise<string[]> {
  if (releases.length === 0) return []
  const dependents: string[] = []
  for (const mention of await mentions(registry.database, crate)) {
    const deps = readEntry(mention.line).deps.filter(
      dep =>
        dep.registry === null && dep.kind !== 'dev' && (dep.package ?? dep.name) === crate.name,
    )
    const needs = [...new Set(deps.map(({ req }) => req))]
    // Nobody writes more; who does is not worth a long comparison.
    let isNeeding = needs.length > COMPARED
    for (const need of isNeeding ? [] : needs) {
      await pace()
      const isIn = matcher(parseRequirement(need))
      isNeeding ||= releases.some(({ version }) => isIn(version))
    }
    if (isNeeding) dependents.push(`${mention.name} ${mention.version}`)
  }
  return dependents
}
