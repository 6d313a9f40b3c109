import { type Issue, issue, refuseErrors, unique, warning } from '../../../core/error/error.ts'
import { canonicalName, type Name } from '../../../core/name.ts'
import { deprecationOf } from '../../../core/notes/notes.ts'
import { crateKey } from '../../../core/paths/crates.ts'
import { lookAlikeKeys } from '../../../core/policy/look-alike.ts'
import {
  checkPolicy,
  type DependencyInfo,
  type PolicyInfo,
  type PolicyRelease,
  type PolicyVerdict,
  policyQuestions,
} from '../../../core/policy/policy.ts'
import type { PublishMetadata } from '../../../core/release/metadata.ts'
import type { Release } from '../../../core/release/release.ts'
import { matcher, parseRequirement } from '../../../core/requirement.ts'
import type { Settings } from '../../../core/settings/settings.ts'
import type { RegistryUrls } from '../../../core/urls/urls.ts'
import { highestVersion, type Version } from '../../../core/version.ts'
import { pace } from '../../database/pace.ts'
import type { Queries } from '../../database/statement.ts'
import type { CrateBytes, Staged } from '../../places/crate-store.ts'
import type { Change } from '../../records/change.ts'
import { type CrateRecord, findLookAlikes, spellings } from '../../records/crates.ts'
import { discouragedCards } from '../../records/pages/cards.ts'
import { listVersions } from '../../records/releases.ts'
import {
  type ExistingRelease,
  type Permit,
  readExisting,
  releaseConflicts,
} from '../../records/releases-stored.ts'
import { archiveLimits, type Client, faultOf, inspectArchive } from '../../sandbox/sandbox.ts'
import type { Registry } from '../registry.ts'
import { advisoryWarnings, nameOf } from './advisory-warnings.ts'
import { listDeprecations } from './deprecation.ts'

/** The bytes of a release, with the data submitted with them. */
export interface Submission<Bytes extends CrateBytes = Staged> {
  readonly bytes: Bytes
  /** The metadata that the client sent to the web API; must agree with the `.crate`. */
  readonly metadata?: {
    readonly name: Name
    readonly version: Version
    readonly declared: PublishMetadata
  }
  /** The records of this name and version before the bytes arrived, if they were read. */
  readonly existing?: ExistingRelease
  /** Time of publication for the index, null when unknown. */
  readonly pubtime: string | null
  /** Crates added in the same batch: a dependency on one of them is not missing. */
  readonly companions?: ReadonlySet<Name>
  /** Their archives take turns; the operator's do not. */
  readonly client?: Client
  readonly permit?: Permit
}

/** A submission that was inspected and has no errors. */
export interface Candidate {
  readonly submission: Submission
  readonly change: Change
  readonly release: Release
  readonly existing: ExistingRelease
  /** Whether this exact release is recorded, and its bytes are lost. */
  readonly isLost: boolean
  readonly verdict: PolicyVerdict
  readonly warnings: readonly Issue[]
}

/** Inspects a submission and applies the policy; throws a `Refusal` with every issue at once. */
export async function check(
  registry: Registry,
  submission: Submission,
  change: Change,
): Promise<Candidate> {
  const { crates, settings, database, urls } = registry
  const { bytes, metadata, companions } = submission
  const { cksum } = bytes
  const issues: Issue[] = []
  if (metadata && submission.existing)
    issues.push(...releaseConflicts(submission.existing, { ...metadata, cksum }, change))
  const release = await inspect(submission, settings, urls, issues)
  if (!release) {
    refuseErrors(issues)
    throw new Error('the inspection returned neither a release nor an error')
  }
  const existing = submission.existing ?? (await readExisting(database, release, change))
  if (!submission.existing)
    issues.push(...releaseConflicts(existing, { ...release, cksum }, change))
  const context = await policyContext(database, release, existing.crate, companions)
  const verdict = checkPolicy(release, context, settings.policy)
  // The operator brings back deleted versions, which an import may have taken against the policy.
  if (change.who !== 'operator' || existing.deleted?.cksum !== cksum) issues.push(...verdict.issues)
  refuseErrors(issues)
  issues.push(...(await dependencyWarnings(database, release)))
  if (existing.hasAdvisories) issues.push(...(await advisoryWarnings(registry, release)))
  const isSame = existing.taken?.cksum === cksum
  const isLost = isSame && (await crates.checksum(crateKey(release.name, cksum))) !== cksum
  return { submission, change, release, existing, isLost, verdict, warnings: issues }
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
    ...(metadata && { metadata: metadata.declared }),
  }
  const inspection = await inspectArchive(bytes.content, parts, client)
  for (const problem of inspection.issues) issues.push(problem)
  const errors = inspection.issues.filter(({ severity }) => severity === 'error')
  const isOdd = errors.length > 0 && errors.every(({ code }) => code.startsWith('archive_'))
  if (!metadata && isOdd) {
    const crate = { path: bytes.content, size: bytes.size, identity: null }
    if ((await faultOf(crate)) === null) issues.push(issue('archive_published'))
  }
  return inspection.release ?? undefined
}

async function policyContext(
  db: Queries,
  release: Release,
  existing: CrateRecord | null,
  companions?: ReadonlySet<Name>,
): Promise<PolicyInfo> {
  const { ownDependencies, cratesIoDependencies } = policyQuestions(release)
  const names = [...ownDependencies, ...cratesIoDependencies].map(canonicalName)
  const spelled = await spellings(db, names)
  return {
    existing,
    lookAlikes: existing ? [] : await findLookAlikes(db, lookAlikeKeys(release.name)),
    ...dependencyContext(release, name => spelled.get(canonicalName(name)), companions),
  }
}

/** Returns what the policy needs to know of dependencies. `spelling`: the name of an existing crate. */
export function dependencyContext(
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

/** The most warnings of a kind, and the most requirements on one crate that are looked at. */
const WARNED = 10

/** Warns of own dependencies that fit yanked versions only, or whose best version is deprecated. */
async function dependencyWarnings(db: Queries, { entry }: Release): Promise<Issue[]> {
  const deps = entry.deps.filter(dep => dep.registry === null)
  if (deps.length === 0) return []
  const cards = await discouragedCards(db, [...new Set(deps.map(nameOf))])
  const [yanked, deprecated]: [Issue[], Issue[]] = [[], []]
  for (const card of cards) {
    const versions = await listVersions(db, card.id)
    const all = await listDeprecations(db, card.id)
    const own = deps.filter(each => nameOf(each) === canonicalName(card.name)).slice(0, WARNED)
    for (const dep of own) {
      await pace()
      const isIn = matcher(parseRequirement(dep.req))
      const best = highestVersion(versions.filter(({ version }) => isIn(version)))
      if (!best) continue
      const { name } = card
      const why = { name, req: dep.req, reason: best.yankReason ?? null }
      if (best.yanked) yanked.push(warning('dependency_yanked', why))
      const said = deprecationOf(all, best.version, card.about)
      if (said) deprecated.push(warning('dependency_deprecated', { name, ...said }))
    }
  }
  return [yanked, deprecated].flatMap(issues => unique(issues).slice(0, WARNED))
}
