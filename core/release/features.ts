import type { Dependency, Features } from '../entry/entry.ts'
import { type Issue, issue } from '../error/error.ts'

const FEATURE_NAME = /^[\p{XID_Start}_0-9][\p{XID_Continue}+.-]*$/u

/**
 * Objections to features that Cargo would refuse, for any of which it calls the whole version invalid: bad names, values
 * that name no feature and no dependency, `dep:` and `?/` of what is not optional (Cargo's `summary.rs`).
 */
export function checkFeatures(features: Features, dependencies: readonly Dependency[]): Issue[] {
  const issues: Issue[] = []
  const book = new FeatureBook(features, dependencies)
  for (const [feature, values] of Object.entries(features)) {
    if (!FEATURE_NAME.test(feature)) issues.push(issue('feature_name', { feature }))
    for (const value of values) {
      const reason = book.objection(value)
      if (reason) issues.push(issue('feature_value', { feature, value, reason }))
    }
  }
  for (const dependency of book.unreachable()) issues.push(issue('feature_shadows', { dependency }))
  return issues
}

/** Which names the values of features may use. */
class FeatureBook {
  readonly #features: ReadonlySet<string>
  readonly #optional = new Set<string>()
  readonly #all = new Set<string>()
  /** Dependencies that some feature names with `dep:`; those get no feature of their own name. */
  readonly #explicit = new Set<string>()
  /** Dependencies that some feature names as such; a bare name is the feature of that name, where there is one. */
  readonly #used = new Set<string>()

  constructor(features: Features, dependencies: readonly Dependency[]) {
    this.#features = new Set(Object.keys(features))
    for (const one of dependencies) {
      this.#all.add(one.name)
      if (one.optional) this.#optional.add(one.name)
    }
    for (const value of Object.values(features).flat()) {
      if (value.startsWith('dep:')) {
        this.#explicit.add(value.slice(4))
        this.#used.add(value.slice(4))
      } else if (value.includes('/')) this.#used.add(value.replace(/\??\/.*$/s, ''))
    }
  }

  /** Why a feature cannot enable `value`; null when it can. */
  objection(value: string): string | null {
    const slash = value.indexOf('/')
    if (value.startsWith('dep:')) {
      if (slash !== -1) return 'but `dep:` and `/` do not go together; write one of them'
      return this.#objectionToOptional(value.slice(4))
    }
    if (slash === -1) return this.#objectionToFeature(value)
    const weak = value[slash - 1] === '?'
    const dependency = value.slice(0, weak ? slash - 1 : slash)
    if (value.includes('/', slash + 1)) return 'which has more than one `/`'
    if (weak) return this.#objectionToOptional(dependency)
    return this.#all.has(dependency) ? null : `but there is no dependency \`${dependency}\``
  }

  /** Optional dependencies that nothing can turn on. */
  unreachable(): string[] {
    return [...this.#optional].filter(one => this.#features.has(one) && !this.#used.has(one))
  }

  #objectionToOptional(name: string): string | null {
    if (this.#optional.has(name)) return null
    return this.#all.has(name)
      ? `but \`${name}\` is not an optional dependency`
      : `but there is no dependency \`${name}\``
  }

  #objectionToFeature(name: string): string | null {
    if (this.#features.has(name)) return null
    if (!this.#all.has(name)) return 'which is neither a feature nor a dependency'
    if (!this.#optional.has(name)) return 'which is a dependency that is not optional'
    return this.#explicit.has(name) ? `which is only known as \`dep:${name}\`` : null
  }
}
