import type { Dependency } from '../../core/entry/entry.ts'
import type { ComparedVersion } from '../data/version.ts'
import { originOf } from '../elements/origin.ts'
import type { SiteConfig } from '../site-config.ts'

/** One difference between a version and the one before it. */
export interface Change {
  readonly kind: 'added' | 'removed' | 'changed'
  readonly subject: 'dependency' | 'feature' | 'MSRV'
  readonly name: string
  /** What it was and what it is, as far as that differs; empty where one says nothing that the other does not. */
  readonly before: string
  readonly after: string
}

/** What changed in MSRV, dependencies and features, in this order, by name. */
export function changes(
  site: Pick<SiteConfig, 'registries'>,
  before: ComparedVersion,
  after: ComparedVersion,
): Change[] {
  const list: Change[] = []
  if (before.rustVersion !== after.rustVersion)
    list.push({
      kind: 'changed',
      subject: 'MSRV',
      name: 'Rust version',
      before: before.rustVersion ?? 'none stated',
      after: after.rustVersion ?? 'none stated',
    })
  const described = (facts: ComparedVersion) =>
    new Map(facts.dependencies.map(one => [key(one), one] as const))
  list.push(
    ...difference('dependency', described(before), described(after), one => parts(site, one)),
  )
  const featured = (facts: ComparedVersion) => new Map(Object.entries(facts.features))
  list.push(
    ...difference('feature', featured(before), featured(after), all => [
      all.join(', ') || 'nothing',
    ]),
  )
  return list
}

function difference<T>(
  subject: Change['subject'],
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  partsOf: (value: T) => readonly string[],
): Change[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort()
  const list: Change[] = []
  for (const name of names) {
    const old = before.get(name)
    const now = after.get(name)
    const was = old === undefined ? [] : partsOf(old)
    const is = now === undefined ? [] : partsOf(now)
    const kind = old === undefined ? 'added' : now === undefined ? 'removed' : 'changed'
    const only = (some: readonly string[], others: readonly string[]) =>
      some.filter(part => !others.includes(part)).join(' · ')
    const change = { kind, subject, name, before: only(was, is), after: only(is, was) } as const
    if (kind !== 'changed' || change.before !== '' || change.after !== '') list.push(change)
  }
  return list
}

/** The same dependency may stand there once per kind and target. */
function key(dependency: Dependency): string {
  const kind = dependency.kind === 'normal' ? '' : ` (${dependency.kind})`
  return `${dependency.name}${kind}${dependency.target === null ? '' : ` [${dependency.target}]`}`
}

function parts(site: Pick<SiteConfig, 'registries'>, dependency: Dependency): string[] {
  const list = [dependency.req]
  if (dependency.package !== null) list.push(`package ${dependency.package}`)
  if (dependency.optional) list.push('optional')
  if (!dependency.default_features) list.push('no default features')
  if (dependency.features.length > 0) list.push(`features ${dependency.features.join(', ')}`)
  if (dependency.registry !== null)
    list.push(`from ${originOf(site, dependency.registry, dependency.name).title}`)
  return list
}
