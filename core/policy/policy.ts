import type { Entry } from '../entry/entry.ts'
import type { Issue } from '../error/error.ts'
import type { About } from '../manifest/manifest.ts'
import type { Name } from '../name.ts'
import { checkFeatures } from '../release/features.ts'
import type { PolicySettings } from '../settings/settings.ts'
import { CRATES_IO } from '../urls.ts'
import type { Version } from '../version.ts'
import { checkDependencies, type DependencyFacts, dependencyNames } from './dependencies.ts'
import { checkFeatureLimits } from './features.ts'
import { lookAlikeKeys } from './look-alike.ts'
import { checkNaming, checkVersion } from './naming.ts'
import { checkPresentation, unknownBadges, unknownCategories } from './presentation.ts'

/** No answer needs more; a hostile manifest can be wrong in 90,000 places. */
const ISSUES_MAX = 1000

/** The parts of a release that the policy checks. */
export interface PolicyRelease {
  readonly name: Name
  readonly version: Version
  readonly entry: Entry
  readonly about: About
}

/** What the policy needs from the catalog; `policyQuestions` says what to look up. */
export interface PolicyFacts extends DependencyFacts {
  /** The crate with the same canonical name. */
  readonly existing: { readonly name: Name } | null
  /** Crates found by `lookAlikeKeys`; not needed when `existing` is set. */
  readonly lookAlikes: readonly Name[]
}

/** What to look up in the catalog for a release. */
export interface PolicyQuestions {
  /** Skeletons of look-alikes: crates whose `lookAlikeSkeleton` is among them. */
  readonly lookAlikeKeys: readonly string[]
  /** Names that must be crates here. */
  readonly ownDependencies: readonly Name[]
  /** Names of dependencies on crates.io, which may be crates here as well. */
  readonly cratesIoDependencies: readonly Name[]
}

/** The result of the policy for a release. */
export interface PolicyVerdict {
  /** Errors, then warnings. */
  readonly issues: readonly Issue[]
  /** Reported only in their own fields of the answer to a publish. */
  readonly invalidCategories: readonly string[]
  readonly invalidBadges: readonly string[]
}

/** What to look up for `checkPolicy`; the answers make its `PolicyFacts`. */
export function policyQuestions(release: PolicyRelease): PolicyQuestions {
  const { deps } = release.entry
  return {
    lookAlikeKeys: lookAlikeKeys(release.name),
    ownDependencies: dependencyNames(deps, null).filter(name => name !== release.name),
    cratesIoDependencies: dependencyNames(deps, CRATES_IO),
  }
}

/** Every objection to a release; `policy` sets the severities. */
export function checkPolicy(
  release: PolicyRelease,
  facts: PolicyFacts,
  policy: PolicySettings,
): PolicyVerdict {
  const { name, version, entry, about } = release
  const issues = [
    ...checkNaming(name, facts, policy),
    ...checkVersion(version, policy),
    ...checkPresentation(about, policy),
    ...checkFeatureLimits(entry.features, policy),
    ...checkFeatures(entry),
    ...checkDependencies(name, entry.deps, facts, policy),
  ]
  return {
    issues: [...issues.filter(isError), ...issues.filter(one => !isError(one))].slice(
      0,
      ISSUES_MAX,
    ),
    invalidCategories: unknownCategories(about.categories, policy),
    invalidBadges: unknownBadges(about.badges, policy),
  }
}

function isError(one: Issue): boolean {
  return one.severity === 'error'
}
