// core/policy: Whether the rules of a registry allow a release. Publishes and imports call it; it
// changes nothing.
import type { Issue } from '../error/error.ts'
import { CRATES_IO } from '../index-url.ts'
import type { Name } from '../name.ts'
import type { Release } from '../release/release.ts'
import type { PolicySettings } from '../settings/settings.ts'
import { checkDependencies, type DependencyInfo, dependencyNames } from './dependencies.ts'
import {
  checkAbout,
  checkFeatureLimits,
  checkName,
  checkVersion,
  unknownCategories,
} from './fields.ts'

/** Maximum number of issues; a malicious manifest can have errors in 90,000 places. */
const ISSUES_MAX = 1000

export type PolicyRelease = Pick<Release, 'name' | 'version' | 'entry' | 'about'>

export interface PolicyInfo extends DependencyInfo {
  readonly existing: { readonly name: Name } | null
  /** Crates whose `lookAlikeSkeleton` is among `lookAlikeKeys`; none when `existing` is set. */
  readonly lookAlikes: readonly Name[]
}

export interface PolicyVerdict {
  readonly issues: readonly Issue[]
  /** Reported in a field of their own of the answer to a publish; categories are issues, too. */
  readonly invalidCategories: readonly string[]
  readonly invalidBadges: readonly string[]
}

/**
 * Returns the dependencies to look up in the records for `checkPolicy`: names that must be crates
 * of this registry, and names of dependencies on crates.io, which may be crates here as well.
 */
export function policyQuestions({ name, entry: { deps } }: PolicyRelease) {
  return {
    ownDependencies: dependencyNames(deps, null).filter(dependency => dependency !== name),
    cratesIoDependencies: dependencyNames(deps, CRATES_IO),
  }
}

/** Checks a release against the policy; `inspectCrate` checks what no setting changes. */
export function checkPolicy(
  { name, version, entry, about }: PolicyRelease,
  info: PolicyInfo,
  policy: PolicySettings,
): PolicyVerdict {
  const issues = [
    // The records tell the spelling of an existing name.
    ...(info.existing ? [] : checkName(name, info.lookAlikes, policy)),
    ...checkVersion(version, policy),
    ...checkAbout(about, policy),
    ...checkFeatureLimits(entry.features, policy),
    ...checkDependencies(name, entry.deps, info, policy),
  ]
  const isError = (issue: Issue) => issue.severity === 'error'
  const sorted = [...issues.filter(isError), ...issues.filter(issue => !isError(issue))]
  const isUnknown = (badge: string) => policy.badges.length > 0 && !policy.badges.includes(badge)
  return {
    issues: sorted.slice(0, ISSUES_MAX),
    invalidCategories:
      policy.unknown_category === 'warn' ? unknownCategories(about.categories, policy) : [],
    invalidBadges: Object.keys(about.badges).filter(isUnknown),
  }
}
