import type { Dependency } from '../entry/entry.ts'
import { type Issue, issue } from '../error/error.ts'
import type { CanonicalName, Name } from '../name.ts'
import { canonicalName, isAlias, isName } from '../name.ts'
import { isFeatureName } from '../release/features.ts'
import type { PolicySettings } from '../settings/settings.ts'
import { CRATES_IO } from '../urls.ts'
import { weigh } from './verdict.ts'

/** What the catalog knows about the dependencies; see `policyQuestions`. */
export interface DependencyFacts {
  /** Those of `ownDependencies` that are not the exact name of a crate here. */
  readonly missingDependencies: readonly Name[]
  /** Crates here whose names differ from missing ones only in case, `-` and `_`. */
  readonly otherSpellings?: readonly Name[]
  /** Those of `cratesIoDependencies` that are also names of crates here. */
  readonly alsoHere: readonly Name[]
}

/** Names, requirements and origins of the dependencies. */
export function checkDependencies(
  crate: Name,
  deps: readonly Dependency[],
  facts: DependencyFacts,
  policy: PolicySettings,
): Issue[] {
  const max = policy.dependencies_max
  if (deps.length > max) return [issue('dependencies_too_many', { count: deps.length, max })]
  return [
    ...deps.flatMap(checkShape),
    ...distinct(deps, one => one.req.trim() === '*').flatMap(name =>
      weigh(policy.wildcard_requirement, issue('dependency_wildcard', { dependency: name })),
    ),
    ...checkExistence(crate, deps, facts, policy),
    ...checkForeign(deps, trapped(deps, facts, policy), policy),
  ]
}

/** The names of the dependencies on this registry (`null`) or on crates.io, each once. */
export function dependencyNames(
  deps: readonly Dependency[],
  registry: null | typeof CRATES_IO,
): readonly Name[] {
  return distinct(deps, one =>
    registry === null ? one.registry === null : isCratesIo(one.registry),
  ).filter(isName)
}

/**
 * What would break every user of the crate, so there is no setting. An empty name would stop Cargo
 * from reading the index.
 */
function checkShape(one: Dependency): Issue[] {
  const issues: Issue[] = []
  const dependency = one.name
  const real = realName(one)
  if (!isName(real)) issues.push(issue('dependency_name_invalid', { name: real }))
  if (one.package !== null && !isAlias(one.name)) {
    issues.push(issue('dependency_rename_invalid', { name: dependency, package: one.package }))
  }
  if (one.kind === 'dev' && one.optional)
    issues.push(issue('dependency_dev_optional', { dependency }))
  for (const feature of one.features) {
    // Cargo used to accept `dependency/feature` here, and crates.io still does.
    if (feature.split('/', 3).length < 3 && feature.split('/').every(isFeatureName)) continue
    issues.push(issue('dependency_feature_invalid', { dependency, feature: feature }))
  }
  return issues
}

function checkExistence(
  crate: Name,
  deps: readonly Dependency[],
  facts: DependencyFacts,
  policy: PolicySettings,
): Issue[] {
  const missing = new Set(facts.missingDependencies)
  const spelled = new Map<CanonicalName, Name>()
  for (const name of facts.otherSpellings ?? []) spelled.set(canonicalName(name), name)
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

/** A trapped dependency gets only that objection, as severe as that to any foreign registry. */
function checkForeign(
  deps: readonly Dependency[],
  trap: ReadonlySet<string>,
  policy: PolicySettings,
): Issue[] {
  const allowed = new Set(policy.allowed_registries.map(plainUrl))
  const seen = new Set<string>()
  return deps.flatMap(one => {
    if (one.registry === null) return []
    const isAllowed = allowed.has(plainUrl(one.registry))
    const isTrapped = isCratesIo(one.registry) && trap.has(realName(one))
    if (isAllowed && !isTrapped) return []
    const dependency = realName(one)
    const registry = one.registry
    if (seen.has(`${dependency} ${plainUrl(one.registry)}`)) return []
    seen.add(`${dependency} ${plainUrl(one.registry)}`)
    const { foreign_registries: foreign, path_dependency_trap: ofTrap } = policy
    if (!isTrapped) return weigh(foreign, issue('dependency_foreign', { dependency, registry }))
    const level = foreign === 'error' && !isAllowed ? 'error' : ofTrap
    return weigh(level, issue('dependency_path_trap', { dependency }))
  })
}

/**
 * Dependencies on crates.io that have the name of a crate here: Cargo turns a workspace member that
 * is named by path alone into one. None where that rule is off.
 */
function trapped(
  deps: readonly Dependency[],
  facts: DependencyFacts,
  policy: PolicySettings,
): ReadonlySet<string> {
  if (policy.path_dependency_trap === 'off') return new Set()
  const here = new Set(facts.alsoHere.map(canonicalName))
  return new Set(dependencyNames(deps, CRATES_IO).filter(name => here.has(canonicalName(name))))
}

/** The real names of the dependencies that `fit`, each once. */
function distinct(deps: readonly Dependency[], fits: (one: Dependency) => boolean): string[] {
  return [...new Set(deps.filter(fits).map(realName))]
}

function realName(one: Dependency): string {
  return one.package ?? one.name
}

function isCratesIo(registry: string | null): boolean {
  return registry !== null && plainUrl(registry) === CRATES_IO
}

/** An index URL in one spelling: lowercase host, no protocol prefix, no trailing slash. */
function plainUrl(text: string): string {
  const bare = text.replace(/^(?:sparse|registry)\+/, '')
  return (URL.canParse(bare) ? new URL(bare).href : bare).replace(/\/$/, '')
}
