import { type Issue, issue } from '../error/error.ts'
import type { Entry } from './entry.ts'

/** Maximum number of errors; a malicious manifest can have errors in 90,000 places. */
const ISSUES_MAX = 100

/** A value of a feature, and what it enables: a feature, a dependency, or a feature of one. */
interface Target {
  readonly feature: string
  readonly value: string
  readonly dependency: string | null
  readonly enabled: string | null
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
  const isEnabled = kind === 'new' ? isFeatureName : (name: string) => !name.includes('/')
  const optional = new Map<string, boolean>()
  for (const dep of entry.deps)
    optional.set(dep.name, dep.optional || optional.get(dep.name) === true)
  const targets = [...features].flatMap(([name, all]) => all.map(value => parse(name, value)))
  const used = new Set(targets.map(({ dependency }) => dependency))
  const named = new Set(targets.map(each => (each.enabled === null ? each.dependency : null)))
  /** Whether a dependency is also a feature: optional, and not named by any `dep:`. */
  const implicit = (name: string) => optional.get(name) === true && !named.has(name)
  const faultOf = ({ feature, value, dependency, enabled, weak }: Target): Issue | null => {
    const isName = enabled === null || (isEnabled(enabled) && !dependency?.startsWith('dep:'))
    if (!isName || dependency === '') return issue('feature_value_invalid', { feature, value })
    const name = dependency ?? value
    if (dependency === null && (features.has(name) || implicit(name))) return null
    if (!optional.has(name))
      return dependency === null
        ? issue('feature_value_unknown', { feature, value })
        : issue('feature_dependency_unknown', { feature, value, dependency })
    if (dependency !== null && enabled !== null && !weak) return null
    if (optional.get(name) !== true)
      return issue('feature_value_required', { feature, value, dependency: name })
    return dependency === null ? issue('feature_value_explicit', { feature, value }) : null
  }
  const issues: Issue[] = []
  for (const feature of features.keys())
    if (!isFeatureName(feature)) issues.push(issue('feature_name_invalid', { feature }))
  for (const target of targets) {
    if (issues.length >= ISSUES_MAX) break
    const fault = faultOf(target)
    if (fault) issues.push(fault)
  }
  for (const [name, isOptional] of optional) {
    const reachable = !isOptional || used.has(name) || (implicit(name) && !features.has(name))
    if (!reachable) issues.push(issue('dependency_unreachable', { dependency: name }))
  }
  return issues.slice(0, ISSUES_MAX)
}

/** Whether `text` is a feature name by the rule of crates.io, which is also Cargo's rule. */
export function isFeatureName(text: string): boolean {
  return /^[\p{XID_Start}_0-9][\p{XID_Continue}+.-]*$/u.test(text)
}

function parse(feature: string, value: string): Target {
  const slash = value.indexOf('/')
  if (slash >= 0) {
    const weak = value[slash - 1] === '?'
    const dependency = value.slice(0, weak ? slash - 1 : slash)
    return { feature, value, dependency, enabled: value.slice(slash + 1), weak }
  }
  const [, dependency = null] = /^dep:(.*)$/s.exec(value) ?? []
  return { feature, value, dependency, enabled: dependency === null ? value : null, weak: false }
}
