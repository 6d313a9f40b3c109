import { createReadStream } from 'node:fs'
import { type Issue, Refusal, refuseErrors, unique, warning } from '../../core/error/error.ts'
import { canonicalName, type Name } from '../../core/name.ts'
import { crateKey } from '../../core/paths/crates.ts'
import type { DependencyFacts } from '../../core/policy/dependencies.ts'
import {
  checkPolicy,
  type PolicyFacts,
  type PolicyRelease,
  type PolicyVerdict,
  policyQuestions,
} from '../../core/policy/policy.ts'
import type { PublishMetadata } from '../../core/release/metadata.ts'
import type { Release } from '../../core/release/release.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { RegistryUrls } from '../../core/urls.ts'
import type { Version } from '../../core/version.ts'
import { buildCrate } from '../build/crate.ts'
import type { Registry } from '../registry.ts'
import { archiveLimits, inspectFile } from '../sandbox/archive.ts'
import { type Change, operatorChange } from '../store/catalog/change.ts'
import { type CrateRecord, findLookAlikes, knownNames } from '../store/catalog/crates.ts'
import { type Added, addRelease, type Permit } from '../store/catalog/publish.ts'
import { checkQuota } from '../store/catalog/quota.ts'
import { releaseOfBytes } from '../store/catalog/releases.ts'
import { objectionsTo, readTarget, type Target } from '../store/catalog/target.ts'
import type { CrateBytes, Staged } from '../store/crate-store.ts'
import type { Queries } from '../store/database/statement.ts'

/** The bytes of a release and what came with them. */
export interface Submission<Bytes extends CrateBytes = Staged> {
  readonly bytes: Bytes
  /** What the client said of it in the web API; must agree with what the `.crate` says. */
  readonly metadata?: {
    readonly name: Name
    readonly version: Version
    readonly said: PublishMetadata
    /** What the catalog had in its place before the bytes arrived. */
    readonly target: Target
  }
  /** Time of publication for the index, null when unknown. */
  readonly pubtime: string | null
  /** Crates that come along in the same batch: a dependency on one of them is not missing. */
  readonly companions?: ReadonlySet<Name>
  /** Decides, in the transaction, whether the release may be added. */
  readonly permit?: Permit
}

/** A release that was taken in, with all that its publisher should know. */
export interface Acceptance {
  readonly release: Release
  readonly outcome: 'added' | 'present'
  readonly crate: CrateRecord
  readonly warnings: readonly Issue[]
  readonly invalidCategories: readonly string[]
  readonly invalidBadges: readonly string[]
}

/** A submission that was inspected and has no errors. */
export interface Checked {
  readonly release: Release
  readonly verdict: PolicyVerdict
  readonly warnings: readonly Issue[]
}

/**
 * Adds a release to the truth, in the order that a crash cannot hurt: inspect, check, store the
 * bytes, one transaction. The public tree follows by a build. Throws a `Refusal` with every
 * objection at once, and then leaves nothing behind; the staged bytes are the caller's to discard.
 */
export async function addSubmission(
  registry: Registry,
  submission: Submission,
  change: Change,
): Promise<Acceptance> {
  const checked = await check(registry, submission, change)
  const added = await registry.mutex.run(async () => {
    try {
      return await store(registry, submission, checked, change)
    } catch (error) {
      if (error instanceof Refusal) await forget(registry, checked)
      throw error
    }
  })
  return acceptance(checked, added)
}

/**
 * Takes a `.crate` file into the registry with the checks of a publish, and renders its index file.
 * `at` is the time for the index (`2026-11-20T12:00:00Z`). Throws a `Refusal` with every objection.
 * Pages follow with `buildPages`.
 */
export async function addCrateFile(
  registry: Registry,
  path: string,
  { at, companions }: { readonly at: string } & Pick<Submission, 'companions'>,
): Promise<Acceptance> {
  const max = registry.settings.limits.crate_bytes
  const bytes = await registry.crates.stage(createReadStream(path), max)
  try {
    const submission = { bytes, pubtime: at, ...(companions && { companions }) }
    const accepted = await addSubmission(registry, submission, operatorChange(at))
    await buildCrate(registry, accepted.crate.id)
    return accepted
  } finally {
    await bytes.discard()
  }
}

/** Inspects a submission and asks the policy; throws a `Refusal` with every objection at once. */
export async function check(
  registry: Registry,
  submission: Submission,
  change: Change,
): Promise<Checked> {
  const { bytes, metadata, companions } = submission
  const { settings, database, urls } = registry
  const issues: Issue[] = []
  const object = (to: Target, of: { readonly name: Name; readonly version: Version }) =>
    issues.push(...objectionsTo(to, { ...of, cksum: bytes.cksum }, change))
  if (metadata) object(metadata.target, metadata)
  const release = await inspect(submission, settings, urls, issues)
  if (!release) {
    refuseErrors(issues)
    throw new Error('a release without objections')
  }
  const target = metadata?.target ?? (await readTarget(database, release, change))
  if (!metadata) object(target, release)
  const facts = await policyFacts(database, release, target.crate, companions)
  const verdict = checkPolicy(release, facts, settings.policy)
  issues.push(...verdict.issues)
  refuseErrors(issues)
  return { release, verdict, warnings: issues }
}

/**
 * Stores bytes and record; the caller has the mutex: between the two, `verify` would find an
 * orphan. After a refusal the caller calls `forget`.
 */
export async function store(
  { settings, database }: Registry,
  { bytes, permit }: Submission,
  { release }: Checked,
  change: Change,
): Promise<Added> {
  await bytes.keep(keyOf(release))
  return addRelease(database, release, change, async (tx, target) => {
    await checkQuota(tx, target, settings.limits, change)
    await permit?.(tx, target)
  })
}

/** Removes the bytes of a release that was not stored, unless another release has them. */
export async function forget({ database, crates }: Registry, { release }: Checked): Promise<void> {
  if (!(await releaseOfBytes(database, release.entry.cksum))) await crates.remove(keyOf(release))
}

function keyOf({ name, entry }: Release): string {
  return crateKey(name, entry.cksum)
}

/** What its publisher is told of a release that was stored. */
export function acceptance({ release, verdict, warnings }: Checked, added: Added): Acceptance {
  const { name, version } = release
  const { invalidCategories, invalidBadges } = verdict
  const present = added.outcome === 'present' ? [warning('release_present', { name, version })] : []
  return {
    release,
    ...added,
    warnings: unique([...warnings, ...present]),
    invalidCategories,
    invalidBadges,
  }
}

/** Reads the release out of a `.crate`, undefined when there is none; objections: `issues`. */
export async function inspect(
  submission: Submission<CrateBytes>,
  settings: Pick<Settings, 'limits' | 'policy'>,
  urls: RegistryUrls,
  issues: Issue[],
): Promise<Release | undefined> {
  const { bytes, metadata, pubtime } = submission
  const inspection = await inspectFile(bytes.path, {
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

async function policyFacts(
  db: Queries,
  release: Release,
  existing: CrateRecord | null,
  companions?: ReadonlySet<Name>,
): Promise<PolicyFacts> {
  const { ownDependencies, cratesIoDependencies, lookAlikeKeys } = policyQuestions(release)
  const known = await knownNames(db, [...ownDependencies, ...cratesIoDependencies])
  return {
    existing,
    lookAlikes: existing ? [] : await findLookAlikes(db, lookAlikeKeys),
    ...dependencyFacts(release, name => known.get(canonicalName(name)), companions),
  }
}

/** What the policy has to know of dependencies; `spelling` is how a crate here is written. */
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
