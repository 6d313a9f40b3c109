import { type Issue, refuseErrors, unique, warning } from '../../core/error/error.ts'
import { canonicalName, type Name } from '../../core/name.ts'
import { crateKey } from '../../core/paths/crates.ts'
import type { DependencyFacts } from '../../core/policy/dependencies.ts'
import {
  checkPolicy,
  type PolicyFacts,
  type PolicyRelease,
  policyQuestions,
} from '../../core/policy/policy.ts'
import { inspectCrate } from '../../core/release/inspect.ts'
import type { PublishMetadata } from '../../core/release/metadata.ts'
import type { Release } from '../../core/release/release.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { ArchiveLimits } from '../../core/tarball/archive.ts'
import type { RegistryUrls } from '../../core/urls.ts'
import type { Version } from '../../core/version.ts'
import type { Registry } from '../registry.ts'
import { checkQuota } from '../store/catalog/quota.ts'
import type { Change } from '../store/catalog/record.ts'
import type { CrateBytes, Staged } from '../store/crate-store.ts'

/** The bytes of a release and what came with them. */
export interface Submission<Bytes extends CrateBytes = Staged> {
  readonly bytes: Bytes
  /** What the client said of it, when it came through the web API; must agree with what the `.crate` says. */
  readonly metadata?: {
    readonly name: Name
    readonly version: Version
    readonly said: PublishMetadata
  }
  /** Time of publication for the index, null when unknown. */
  readonly pubtime: string | null
  /** Crates that come along in the same batch: a dependency on one of them is not missing. */
  readonly companions?: ReadonlySet<Name>
}

/** A release that was taken in, with everything worth telling its publisher. */
export interface Acceptance {
  readonly release: Release
  readonly outcome: 'added' | 'present'
  readonly crateId: number
  readonly warnings: readonly Issue[]
  readonly invalidCategories: readonly string[]
  readonly invalidBadges: readonly string[]
}

/**
 * Takes a release into the truth, in the order that a crash cannot hurt: inspect, check, store the bytes, one
 * transaction. The public tree follows by a build. Throws a `Refusal` with every objection at once, and then leaves
 * nothing behind; the staged bytes are the caller's to discard.
 */
export async function addSubmission(
  registry: Registry,
  submission: Submission,
  change: Change,
): Promise<Acceptance> {
  const { bytes, metadata } = submission
  const issues: Issue[] = []
  if (metadata)
    issues.push(...(await registry.catalog.objections({ ...metadata, cksum: bytes.cksum }, change)))
  const release = await inspect(submission, registry.settings, registry.urls, issues)
  if (!release) {
    refuseErrors(issues)
    throw new Error('a release without objections')
  }
  const publication = { name: release.name, version: release.version, cksum: bytes.cksum }
  if (!metadata) issues.push(...(await registry.catalog.objections(publication, change)))
  const verdict = checkPolicy(
    release,
    await policyFacts(registry, release, submission.companions),
    registry.settings.policy,
  )
  issues.push(...verdict.issues)
  refuseErrors(issues)
  const { outcome, crateId } = await registry.mutex.run(async () => {
    await checkQuota(registry.database, release, registry.settings.limits, change)
    // In one turn: between its arrival and its record, `verify --repair` would take the file for an orphan.
    await bytes.keep(crateKey(release.name, bytes.cksum))
    return registry.catalog.add(release, change)
  })
  if (outcome === 'present')
    issues.push(warning('release_present', { name: release.name, version: release.version }))
  const { invalidCategories, invalidBadges } = verdict
  return { release, outcome, crateId, warnings: unique(issues), invalidCategories, invalidBadges }
}

/** Reads the release out of a `.crate`; undefined, with the objections added to `issues`, when that is not possible. */
export async function inspect(
  submission: Submission<CrateBytes>,
  settings: Pick<Settings, 'limits' | 'policy'>,
  urls: RegistryUrls,
  issues: Issue[],
): Promise<Release | undefined> {
  const { bytes, metadata, pubtime } = submission
  const inspection = await inspectCrate(bytes.open, {
    limits: archiveLimits(settings, bytes.size),
    expected: metadata,
    cksum: bytes.cksum,
    size: bytes.size,
    pubtime,
    ownIndexUrls: urls.own,
    ...(metadata && { metadata: metadata.said }),
  })
  for (const one of inspection.issues) issues.push(one)
  return inspection.release ?? undefined
}

/** How much is read out of a `.crate` of this size. */
export function archiveLimits(
  { limits, policy }: Pick<Settings, 'limits' | 'policy'>,
  size: number,
): ArchiveLimits {
  return {
    unpackedBytes: Math.max(limits.unpacked_bytes, limits.unpacked_ratio * size),
    entries: limits.archive_entries,
    manifestBytes: limits.manifest_bytes,
    readmeBytes: limits.readme_bytes,
    duplicateManifest: policy.duplicate_manifest === 'allow',
  }
}

/** What the policy has to know of the catalog, beyond the release itself. */
async function policyFacts(
  registry: Registry,
  release: Release,
  companions?: ReadonlySet<Name>,
): Promise<PolicyFacts> {
  const { ownDependencies, cratesIoDependencies, lookAlikeKeys } = policyQuestions(release)
  const existing = await registry.catalog.find(release.name)
  const known = await registry.catalog.known([...ownDependencies, ...cratesIoDependencies])
  return {
    existing,
    lookAlikes: existing ? [] : await registry.catalog.lookAlikes(lookAlikeKeys),
    ...dependencyFacts(release, name => known.get(canonicalName(name)), companions),
  }
}

/** What the policy has to know of a release's dependencies; `spelling` is how a crate here is written. */
export function dependencyFacts(
  release: PolicyRelease,
  spelling: (name: Name) => Name | undefined,
  companions: ReadonlySet<Name> = new Set(),
): DependencyFacts {
  const { ownDependencies, cratesIoDependencies } = policyQuestions(release)
  const missing = ownDependencies.filter(name => spelling(name) !== name && !companions.has(name))
  return {
    missingDependencies: missing,
    otherSpellings: missing.map(spelling).filter(name => name !== undefined),
    alsoHere: cratesIoDependencies.filter(name => spelling(name) !== undefined),
  }
}
