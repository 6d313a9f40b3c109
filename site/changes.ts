import type { ComparedFacts, DependencyFacts } from './version-facts.ts'

/** One difference between a version and the one before it. */
export interface Change {
  readonly kind: 'added' | 'removed' | 'changed'
  readonly subject: 'dependency' | 'feature' | 'MSRV'
  readonly name: string
  /** What it was and what it is, where that says more than the name. */
  readonly before: string | null
  readonly after: string | null
}

/** What changed in MSRV, dependencies and features, in this order, by name. */
export function changes(before: ComparedFacts, after: ComparedFacts): Change[] {
  const list: Change[] = []
  if (before.rustVersion !== after.rustVersion)
    list.push({
      kind: 'changed',
      subject: 'MSRV',
      name: 'Rust version',
      before: before.rustVersion ?? 'none stated',
      after: after.rustVersion ?? 'none stated',
    })
  const described = (facts: ComparedFacts) => new Map(facts.dependencies.map(one => [key(one), one] as const))
  list.push(...difference('dependency', described(before), described(after), dependencyText))
  const featured = (facts: ComparedFacts) => new Map(Object.entries(facts.features))
  list.push(...difference('feature', featured(before), featured(after), all => all.join(', ') || 'nothing'))
  return list
}

function difference<T>(
  subject: Change['subject'],
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  text: (value: T) => string,
): Change[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort()
  const list: Change[] = []
  for (const name of names) {
    const old = before.get(name)
    const now = after.get(name)
    if (old !== undefined && now !== undefined) {
      if (text(old) !== text(now)) list.push({ kind: 'changed', subject, name, before: text(old), after: text(now) })
    } else if (now !== undefined) list.push({ kind: 'added', subject, name, before: null, after: text(now) })
    else if (old !== undefined) list.push({ kind: 'removed', subject, name, before: text(old), after: null })
  }
  return list
}

/** The same dependency may stand there once per kind and target. */
function key(dependency: DependencyFacts): string {
  const kind = dependency.kind === 'normal' ? '' : ` (${dependency.kind})`
  return `${dependency.name}${kind}${dependency.target === null ? '' : ` [${dependency.target}]`}`
}

function dependencyText(dependency: DependencyFacts): string {
  const parts = [dependency.req]
  if (dependency.package !== null) parts.push(`package ${dependency.package}`)
  if (dependency.optional) parts.push('optional')
  if (!dependency.default_features) parts.push('no default features')
  if (dependency.features.length > 0) parts.push(`features ${dependency.features.join(', ')}`)
  if (dependency.registry !== null) parts.push(`from ${dependency.registry}`)
  return parts.join(' · ')
}
