import type { Dependency, Features } from '../entry/entry.ts'
import { type Issue, issue } from '../error/error.ts'

/** More objections help nobody, and a hostile manifest can be wrong in 90,000 places. */
const ISSUES_MAX = 100

/** What a feature value leads to; the grammar of Cargo's `FeatureValue::new`. */
type Target =
  | { readonly kind: 'feature'; readonly feature: string }
  | { readonly kind: 'dependency'; readonly dependency: string }
  | {
      readonly kind: 'member'
      readonly dependency: string
      readonly feature: string
      readonly weak: boolean
    }

/** Dependencies by the name they go by; true when one of that name is optional. */
type Optional = ReadonlyMap<string, boolean>

/**
 * Objections to the names and references of features. They are no setting: a line that breaks
 * Cargo's rules (`build_feature_map`) makes the version unusable for everyone.
 */
export function checkFeatures(entry: {
  readonly features: Features
  readonly deps: readonly Dependency[]
}): Issue[] {
  const features = new Map(Object.entries(entry.features))
  const issues: Issue[] = []
  for (const feature of features.keys())
    if (!isFeatureName(feature)) issues.push(issue('feature_name_invalid', { feature }))
  return [...issues, ...checkReferences(features, entry.deps)].slice(0, ISSUES_MAX)
}

/** crates.io's rule for feature names; Cargo's is the same. */
export function isFeatureName(text: string): boolean {
  return /^[\p{XID_Start}_0-9][\p{XID_Continue}+.-]*$/u.test(text)
}

function checkReferences(
  features: ReadonlyMap<string, readonly string[]>,
  dependencies: readonly Dependency[],
): Issue[] {
  const optional = new Map<string, boolean>()
  for (const one of dependencies)
    optional.set(one.name, one.optional || optional.get(one.name) === true)
  const targets = [...features.values()].flat().map(parseTarget)
  const used = new Set(targets.map(one => (one.kind === 'feature' ? '' : one.dependency)))
  const named = new Set(targets.map(one => (one.kind === 'dependency' ? one.dependency : '')))
  /** An optional dependency is a feature of its own unless some `dep:` names it. */
  const implicit = (name: string) => optional.get(name) === true && !named.has(name)
  const issues: Issue[] = []
  for (const [feature, values] of features) {
    if (issues.length > ISSUES_MAX) break
    for (const value of values)
      issues.push(...checkValue(feature, value, features, optional, implicit))
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
  optional: Optional,
  implicit: (dependency: string) => boolean,
): Issue[] {
  const target = parseTarget(value)
  if (!isWellFormed(target)) return [issue('feature_value_invalid', { feature, value })]
  if (target.kind === 'feature') {
    if (features.has(target.feature) || implicit(target.feature)) return []
    if (!optional.has(target.feature)) return [issue('feature_value_unknown', { feature, value })]
    return [
      optional.get(target.feature) === true
        ? issue('feature_value_explicit', { feature, value })
        : issue('feature_value_required', { feature, value, dependency: value }),
    ]
  }
  const { dependency } = target
  if (!optional.has(target.dependency))
    return [issue('feature_dependency_unknown', { feature, value, dependency })]
  const needsOptional = target.kind === 'dependency' || target.weak
  if (!needsOptional || optional.get(target.dependency) === true) return []
  return [issue('feature_value_required', { feature, value, dependency })]
}

function parseTarget(text: string): Target {
  const slash = text.indexOf('/')
  if (slash >= 0) {
    const weak = text[slash - 1] === '?'
    const dependency = text.slice(0, weak ? slash - 1 : slash)
    return { kind: 'member', dependency, feature: text.slice(slash + 1), weak }
  }
  if (text.startsWith('dep:')) return { kind: 'dependency', dependency: text.slice('dep:'.length) }
  return { kind: 'feature', feature: text }
}

function isWellFormed(target: Target): boolean {
  if (target.kind === 'dependency') return target.dependency !== ''
  if (target.kind === 'feature') return isFeatureName(target.feature)
  return (
    target.dependency !== '' &&
    !target.dependency.startsWith('dep:') &&
    isFeatureName(target.feature)
  )
}
