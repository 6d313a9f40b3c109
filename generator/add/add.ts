import { createReadStream } from 'node:fs'
import { type Issue, Refusal, refuseErrors, unique, warning } from '../../core/error/error.ts'
import { canonicalName, type Name } from '../../core/name.ts'
import { crateKey } from '../../core/paths/crates.ts'
import type { DependencyInfo } from '../../core/policy/dependencies.ts'
import { lookAlikeKeys } from '../../core/policy/look-alike.ts'
import {
  checkPolicy,
  type PolicyInfo,
  type PolicyRelease,
  type PolicyVerdict,
  policyQuestions,
} from '../../core/policy/policy.ts'
import type { PublishMetadata } from '../../core/release/metadata.ts'
import type { Release } from '../../core/release/release.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { RegistryUrls } from '../../core/urls/urls.ts'
import type { Version } from '../../core/version.ts'
import { buildCrate } from '../build/crate.ts'
import type { CrateBytes, Staged } from '../places/crate-store.ts'
import type { Registry } from '../registry.ts'
import { archiveLimits, inspectArchive } from '../sandbox/archive.ts'
import type { Client } from '../sandbox/sandbox.ts'
import { type Change, operatorChange } from '../store/catalog/change.ts'
import { type CrateRecord, findLookAlikes, knownNames } from '../store/catalog/crates.ts'
import { marksOf, setMarks } from '../store/catalog/marks.ts'
import { type Added, insertAdded, type Permit } from '../store/catalog/release-changes.ts'
import { releaseOfBytes } from '../store/catalog/releases.ts'
import { checkQuota, readTarget, releaseConflicts, type Target } from '../store/catalog/target.ts'
import type { Queries } from '../store/database/statement.ts'

/** The bytes of a release, with the data submitted with them. */
export interface Submission<Bytes extends CrateBytes = Staged> {
  readonly bytes: Bytes
  /** The metadata that the client sent to the web API; must agree with the `.crate`. */
  readonly metadata?: {
    readonly name: Name
    readonly version: Version
    readonly said: PublishMetadata
    /** What the catalog had for this name and version before the bytes arrived. */
    readonly target: Target
  }
  /** Time of publication for the index, null when unknown. */
  readonly pubtime: string | null
  /** Crates added in the same batch: a dependency on one of them is not missing. */
  readonly companions?: ReadonlySet<Name>
  /** Whose archives take turns with those of others; the operator's do not. */
  readonly client?: Client
  /** Checks within the transaction whether the release may be added. */
  readonly permit?: Permit
}

/** An accepted release, with everything that its publisher should know. */
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
 * Adds a release to the records in an order that survives a crash: inspect, check, store the bytes,
 * one transaction. A build then updates the public tree. Throws a `Refusal` with every issue at
 * once, and then leaves nothing behind; the caller discards the staged bytes.
 */
export async function addSubmission(
  registry: Registry,
  submission: Submission,
  change: Change,
): Promise<Acceptance> {
  const checked = await check(registry, submission, change)
  const { crates, database } = registry
  const { cksum } = submission.bytes
  const added = await registry.mutex.run(async () => {
    try {
      const known = await releaseOfBytes(database, cksum)
      const isLost = known !== null && (await crates.checksum(keyOf(checked.release))) !== cksum
      await keep(submission, checked)
      return await database.transaction(async tx => {
        const done = await record(registry, tx, submission, checked, change)
        // Its file in the public tree may be lost, too.
        if (isLost) await setMarks(tx, marksOf('file', [known.id]), done.crate.generation)
        return { ...done, isLost }
      })
    } catch (error) {
      await forgetRefused(registry, checked, error)
      throw error
    }
  })
  return acceptance(checked, added, added.isLost)
}

/**
 * Adds a `.crate` file with the checks of a publish, and renders its index file. `at` is the time
 * for the index (`2026-11-20T12:00:00Z`). Throws a `Refusal` with every issue. `buildPages` then
 * renders the pages.
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

/** Inspects a submission and applies the policy; throws a `Refusal` with every issue at once. */
export async function check(
  registry: Registry,
  submission: Submission,
  change: Change,
): Promise<Checked> {
  const { bytes, metadata, companions } = submission
  const { settings, database, urls } = registry
  const issues: Issue[] = []
  const object = (to: Target, of: { readonly name: Name; readonly version: Version }) =>
    issues.push(...releaseConflicts(to, { ...of, cksum: bytes.cksum }, change))
  if (metadata) object(metadata.target, metadata)
  const release = await inspect(submission, settings, urls, issues)
  if (!release) {
    refuseErrors(issues)
    throw new Error('the inspection returned neither a release nor an error')
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
 * Stores the bytes, before they are recorded. The caller holds the mutex until then, because
 * `verify` would find an orphan in between, and calls `forgetRefused` after a failure.
 */
export function keep({ bytes }: Submission, { release }: Checked): Promise<void> {
  return bytes.keep(keyOf(release))
}

/** Records a release whose bytes are stored. */
export function record(
  { settings }: Registry,
  tx: Queries,
  { permit }: Submission,
  { release }: Checked,
  change: Change,
): Promise<Added> {
  return insertAdded(tx, release, change, async (within, target) => {
    await checkQuota(within, target, settings.limits, change)
    await permit?.(within, target)
  })
}

/** Removes the bytes of a release that was refused, unless another release has them. */
export async function forgetRefused(
  registry: Registry,
  { release }: Checked,
  error: unknown,
): Promise<void> {
  if (!(error instanceof Refusal)) return
  // Of records that were moved, the new ones may have a release of these bytes in the same store;
  // a commit whose outcome nobody knows may still be made.
  if (error.has('registry_moved') || error.has('commit_unknown')) return
  await forgetBytes(registry, release.name, release.entry.cksum)
}

/** Removes the bytes of a release that is not recorded, unless another release has them. */
export async function forgetBytes(
  { database, crates, mutex }: Registry,
  name: Name,
  cksum: string,
): Promise<void> {
  if (await releaseOfBytes(database, cksum)) return
  // Without the mutex somebody may be about to record a release with the same bytes.
  if (await mutex.isHeld()) await crates.remove(crateKey(name, cksum))
}

function keyOf({ name, entry }: Release): string {
  return crateKey(name, entry.cksum)
}

/** Returns what the publisher of a stored release should know; `wasLost`: it lacked its bytes. */
export function acceptance(
  { release, verdict, warnings }: Checked,
  added: Added,
  wasLost = false,
): Acceptance {
  const { name, version } = release
  const { invalidCategories, invalidBadges } = verdict
  const code = wasLost ? 'release_restored' : 'release_present'
  const present = added.outcome === 'present' ? [warning(code, { name, version })] : []
  return {
    release,
    ...added,
    warnings: unique([...warnings, ...present]),
    invalidCategories,
    invalidBadges,
  }
}

/** Reads the release from a `.crate` and appends to `issues`; undefined when it has none. */
export async function inspect(
  submission: Submission<CrateBytes>,
  settings: Pick<Settings, 'limits' | 'policy'>,
  urls: RegistryUrls,
  issues: Issue[],
): Promise<Release | undefined> {
  const { bytes, metadata, pubtime, client } = submission
  const parts = {
    limits: archiveLimits(settings, bytes.size),
    expected: metadata,
    cksum: bytes.cksum,
    size: bytes.size,
    pubtime,
    ownIndexUrls: urls.own,
    ...(metadata && { metadata: metadata.said }),
  }
  const inspection = await inspectArchive(bytes.content, parts, client)
  for (const one of inspection.issues) issues.push(one)
  return inspection.release ?? undefined
}

async function policyFacts(
  db: Queries,
  release: Release,
  existing: CrateRecord | null,
  companions?: ReadonlySet<Name>,
): Promise<PolicyInfo> {
  const { ownDependencies, cratesIoDependencies } = policyQuestions(release)
  const known = await knownNames(db, [...ownDependencies, ...cratesIoDependencies])
  return {
    existing,
    lookAlikes: existing ? [] : await findLookAlikes(db, lookAlikeKeys(release.name)),
    ...dependencyFacts(release, name => known.get(canonicalName(name)), companions),
  }
}

/** Returns the policy's facts about dependencies. `spelling`: the name of an existing crate. */
export function dependencyFacts(
  release: PolicyRelease,
  spelling: (name: Name) => Name | undefined,
  companions: ReadonlySet<Name> = new Set(),
): DependencyInfo {
  const { ownDependencies, cratesIoDependencies } = policyQuestions(release)
  const missing = ownDependencies.filter(name => spelling(name) !== name && !companions.has(name))
  return {
    missingDependencies: missing,
    otherSpellings: missing.map(spelling).filter(name => name !== undefined),
    namesakes: cratesIoDependencies.filter(name => spelling(name) !== undefined),
  }
}
