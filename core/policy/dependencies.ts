import type { Dependency } from '../entry/entry.ts'
import type { Issue } from '../error/error.ts'
import { issue } from '../error/error.ts'
import type { CanonicalName, Name } from '../name.ts'
import { canonicalName, isName } from '../name.ts'
import { isFeatureName } from '../release/features.ts'
import type { PolicySettings } from '../settings/settings.ts'
import { weigh } from './verdict.ts'

/** How a dependency on crates.io is written in an index entry (Cargo's `CRATES_IO_INDEX`). */
export const CRATES_IO_INDEX = 'https://github.com/rust-lang/crates.io-index'

/** What the catalog knows of the crates a release depends on; asked by `policyQuestions`. */
export interface DependencyFacts {
  /** Those of `ownDependencies` that no crate here has as its exact name, as Cargo compares them. */
  readonly missingDependencies: readonly Name[]
  /** Crates here whose name differs from a missing one only by case, `-` and `_`. */
  readonly otherSpellings?: readonly Name[]
  /** Those of `cratesIoDependencies` that are also the name of a crate here. */
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

/** The names that a dependency on this registry (`null`) or on crates.io refers to, each once. */
export function dependencyNames(
  deps: readonly Dependency[],
  registry: null | typeof CRATES_IO_INDEX,
): readonly Name[] {
  return distinct(deps, one =>
    registry === null ? one.registry === null : isCratesIo(one.registry),
  ).filter(isName)
}

/** What would break Cargo for every user of the crate: no setting. An empty name stops even the reading of the index. */
function checkShape(one: Dependency): Issue[] {
  const issues: Issue[] = []
  const dependency = one.name
  const real = realName(one)
  if (!isName(real)) issues.push(issue('dependency_name_invalid', { name: real }))
  if (one.package !== null && !/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(one.name)) {
    issues.push(issue('dependency_rename_invalid', { name: dependency, package: one.package }))
  }
  if (one.kind === 'dev' && one.optional)
    issues.push(issue('dependency_dev_optional', { dependency }))
  for (const feature of one.features) {
    // Cargo once let pass `dependency/feature` here, and crates.io still does.
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
    // A crate may use itself in its tests, and is not there before its first version.
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

/** A dependency in the trap is told of that alone, and as heavily as if it were any other on a foreign registry. */
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
 * Dependencies on crates.io that have the name of a crate here: a member of a workspace that is named by path alone
 * arrives as one (Cargo fills it in). Empty where that rule is off.
 */
function trapped(
  deps: readonly Dependency[],
  facts: DependencyFacts,
  policy: PolicySettings,
): ReadonlySet<string> {
  if (policy.path_dependency_trap === 'off') return new Set()
  const here = new Set(facts.alsoHere.map(canonicalName))
  return new Set(
    dependencyNames(deps, CRATES_IO_INDEX).filter(name => here.has(canonicalName(name))),
  )
}

/** The real names of the dependencies that `fit`, each once. */
function distinct(deps: readonly Dependency[], fits: (one: Dependency) => boolean): string[] {
  return [...new Set(deps.filter(fits).map(realName))]
}

function realName(one: Dependency): string {
  return one.package ?? one.name
}

function isCratesIo(registry: string | null): boolean {
  return registry !== null && plainUrl(registry) === CRATES_IO_INDEX
}

/** An index URL in one spelling: host in lowercase, without protocol mark and trailing slash. */
function plainUrl(text: string): string {
  const bare = text.replace(/^(?:sparse|registry)\+/, '')
  return (URL.canParse(bare) ? new URL(bare).href : bare).replace(/\/$/, '')
}
