import { type Issue, issue } from '../error/error.ts'
import type { Dependency, Entry } from './entry.ts'

/** Maximum number of errors; a malicious manifest can have errors in 90,000 places. */
const ISSUES_MAX = 100

/** The feature, dependency, or feature of a dependency that a feature value enables. */
interface FeatureTarget {
  readonly dependency: string | null
  readonly feature: string | null
  readonly weak: boolean
}

/**
 * Returns errors in the names and values of features. There is no setting: an entry that breaks
 * Cargo's rules (`build_feature_map`) makes the version unusable for everyone. What is `published`
 * may enable features of dependencies by names that none can have: Cargo minds only if it must.
 */
export function checkFeatures(
  entry: Pick<Entry, 'features' | 'deps'>,
  kind: 'new' | 'published' = 'new',
): Issue[] {
  const features = new Map(Object.entries(entry.features))
  const issues: Issue[] = []
  for (const feature of features.keys())
    if (!isFeatureName(feature)) issues.push(issue('feature_name_invalid', { feature }))
  return [...issues, ...checkReferences(features, entry.deps, kind)].slice(0, ISSUES_MAX)
}

/** Whether `text` is a feature name by the rule of crates.io, which is also Cargo's rule. */
export function isFeatureName(text: string): boolean {
  return /^[\p{XID_Start}_0-9][\p{XID_Continue}+.-]*$/u.test(text)
}

function checkReferences(
  features: ReadonlyMap<string, readonly string[]>,
  dependencies: readonly Dependency[],
  kind: 'new' | 'published',
): Issue[] {
  const isEnabled = kind === 'new' ? isFeatureName : (name: string) => !name.includes('/')
  const optional = new Map<string, boolean>()
  for (const dep of dependencies)
    optional.set(dep.name, dep.optional || optional.get(dep.name) === true)
  const targets = [...features.values()].flat().map(parseTarget)
  const used = new Set(targets.map(target => target.dependency))
  const named = new Set(targets.map(target => (target.feature === null ? target.dependency : null)))
  /** Whether a dependency is also a feature: optional, and not named by any `dep:`. */
  const implicit = (name: string) => optional.get(name) === true && !named.has(name)
  const issues: Issue[] = []
  for (const [feature, values] of features) {
    if (issues.length > ISSUES_MAX) break
    for (const value of values) {
      const { feature: enabled } = parseTarget(value)
      if (enabled !== null && !isEnabled(enabled))
        issues.push(issue('feature_value_invalid', { feature, value }))
      else issues.push(...checkValue(feature, value, features, optional, implicit))
    }
  }
  for (const [name, isOptional] of optional) {
    const reachable = !isOptional || used.has(name) || (implicit(name) && !features.has(name))
    if (!reachable) issues.push(issue('dependency_unreachable', { dependency: name }))
  }
  return issues
}

function checkValue(
  feature: string,
  value: string,
  features: ReadonlyMap<string, unknown>,
  optional: ReadonlyMap<string, boolean>,
  implicit: (dependency: string) => boolean,
): Issue[] {
  const { dependency, feature: enabled, weak } = parseTarget(value)
  if (dependency === null) {
    const name = value
    if (features.has(name) || implicit(name)) return []
    if (!optional.has(name)) return [issue('feature_value_unknown', { feature, value })]
    return [
      optional.get(name) === true
        ? issue('feature_value_explicit', { feature, value })
        : issue('feature_value_required', { feature, value, dependency: name }),
    ]
  }
  if (dependency === '' || (enabled !== null && dependency.startsWith('dep:')))
    return [issue('feature_value_invalid', { feature, value })]
  if (!optional.has(dependency))
    return [issue('feature_dependency_unknown', { feature, value, dependency })]
  const needsOptional = enabled === null || weak
  if (!needsOptional || optional.get(dependency) === true) return []
  return [issue('feature_value_required', { feature, value, dependency })]
}

function parseTarget(text: string): FeatureTarget {
  const slash = text.indexOf('/')
  if (slash >= 0) {
    const weak = text[slash - 1] === '?'
    const dependency = text.slice(0, weak ? slash - 1 : slash)
    return { dependency, feature: text.slice(slash + 1), weak }
  }
  const [, dependency = null] = /^dep:(.*)$/s.exec(text) ?? []
  return { dependency, feature: dependency === null ? text : null, weak: false }
}
