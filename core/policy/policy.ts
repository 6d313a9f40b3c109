// core/policy: Whether the rules of a registry allow a release. Publishes and imports call it; it
// changes nothing.

import type { Dependency } from '../entry/entry.ts'
import { isFeatureName } from '../entry/features.ts'
import { type Issue, issue } from '../error/error.ts'
import { CRATES_IO, isCratesIo } from '../index-url.ts'
import { canonicalName, isAlias, isName, type Name } from '../name.ts'
import type { Release } from '../release/release.ts'
import type { PolicySettings } from '../settings/settings.ts'
import {
  checkAbout,
  checkFeatureLimits,
  checkName,
  checkVersion,
  unknownCategories,
  weigh,
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

export interface DependencyInfo {
  /** The names in `ownDependencies` that no crate of this registry has exactly. */
  readonly missingDependencies: readonly Name[]
  /** Crates of this registry whose names differ from missing ones only in case, `-` and `_`. */
  readonly otherSpellings?: readonly Name[]
  /** The names in `cratesIoDependencies` that are also crates of this registry. */
  readonly namesakes: readonly Name[]
}

/** Checks the names, requirements and origins of the dependencies. */
export function checkDependencies(
  crate: Name,
  deps: readonly Dependency[],
  info: DependencyInfo,
  policy: PolicySettings,
): Issue[] {
  const max = policy.dependencies_max
  if (deps.length > max) return [issue('dependencies_too_many', { count: deps.length, max })]
  return [
    ...deps.flatMap(checkShape),
    ...distinct(deps, dep => dep.req.trim() === '*').flatMap(name =>
      weigh(policy.wildcard_requirement, issue('dependency_wildcard', { dependency: name })),
    ),
    ...checkExistence(crate, deps, info, policy),
    ...checkForeign(deps, trapped(deps, info, policy), policy),
  ]
}

/** Returns the names of the dependencies on this registry (`null`) or on crates.io, each once. */
export function dependencyNames(
  deps: readonly Dependency[],
  registry: null | typeof CRATES_IO,
): readonly Name[] {
  return distinct(deps, dep =>
    registry === null ? dep.registry === null : isPublic(dep.registry),
  ).filter(isName)
}

/** Checks for entries that break every user, without a setting: Cargo cannot read an empty name. */
function checkShape(dep: Dependency): Issue[] {
  const issues: Issue[] = []
  const { name: dependency, package: original } = dep
  const name = realName(dep)
  if (!isName(name)) issues.push(issue('dependency_name_invalid', { name }))
  if (original !== null && !isAlias(dependency))
    issues.push(issue('dependency_rename_invalid', { name: dependency, package: original }))
  if (dep.kind === 'dev' && dep.optional)
    issues.push(issue('dependency_dev_optional', { dependency }))
  for (const feature of dep.features) {
    // Cargo used to accept `dependency/feature` here, and crates.io still does.
    if (feature.split('/', 3).length < 3 && feature.split('/').every(isFeatureName)) continue
    issues.push(issue('dependency_feature_invalid', { dependency, feature }))
  }
  return issues
}

function checkExistence(
  crate: Name,
  deps: readonly Dependency[],
  info: DependencyInfo,
  policy: PolicySettings,
): Issue[] {
  const missing = new Set(info.missingDependencies)
  const spelled = new Map(info.otherSpellings?.map(name => [canonicalName(name), name]))
  return dependencyNames(deps, null).flatMap(dependency => {
    // A crate may depend on itself for its tests before its first version exists.
    if (dependency === crate || !missing.has(dependency)) return []
    const existing = spelled.get(canonicalName(dependency))
    return weigh(
      policy.dependency_exists,
      existing
        ? issue('dependency_misspelled', { dependency, existing })
        : issue('dependency_missing', { dependency }),
    )
  })
}

/** Reports foreign dependencies; for a trapped one, only the trap, which is at least as severe. */
function checkForeign(
  deps: readonly Dependency[],
  trap: ReadonlySet<string>,
  policy: PolicySettings,
): Issue[] {
  const allowed = new Set(policy.allowed_registries.map(plainUrl))
  const { foreign_registries: foreign, path_dependency_trap: ofTrap } = policy
  const issues = new Map<string, Issue[]>()
  for (const dep of deps) {
    const { registry } = dep
    if (registry === null) continue
    const dependency = realName(dep)
    const isAllowed = allowed.has(plainUrl(registry))
    const isTrapped = isPublic(registry) && trap.has(dependency)
    const key = `${dependency} ${plainUrl(registry)}`
    if (issues.has(key) || (isAllowed && !isTrapped)) continue
    const level = !isTrapped || (foreign === 'error' && !isAllowed) ? foreign : ofTrap
    const error = isTrapped
      ? issue('dependency_path_trap', { dependency })
      : issue('dependency_foreign', { dependency, registry })
    issues.set(key, weigh(level, error))
  }
  return [...issues.values()].flat()
}

/**
 * Returns the dependencies on crates.io that have the name of a crate of this registry: Cargo turns
 * a workspace member with only a path into one. Empty if that rule is off.
 */
function trapped(
  deps: readonly Dependency[],
  info: DependencyInfo,
  policy: PolicySettings,
): ReadonlySet<string> {
  if (policy.path_dependency_trap === 'off') return new Set()
  const names = new Set(info.namesakes.map(canonicalName))
  return new Set(dependencyNames(deps, CRATES_IO).filter(name => names.has(canonicalName(name))))
}

function distinct(deps: readonly Dependency[], fits: (dep: Dependency) => boolean): string[] {
  return [...new Set(deps.filter(fits).map(realName))]
}

function realName(dep: Dependency): string {
  return dep.package ?? dep.name
}

function isPublic(registry: string | null): boolean {
  return registry !== null && plainUrl(registry) === CRATES_IO
}

/** Normalizes an index URL: lowercase host, no protocol prefix, no trailing slash, one crates.io. */
function plainUrl(text: string): string {
  const bare = text.replace(/^(?:sparse|registry)\+/, '')
  if (isCratesIo(text)) return CRATES_IO
  return (URL.canParse(bare) ? new URL(bare).href : bare).replace(/\/$/, '')
}
