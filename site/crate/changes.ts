import type { Dependency } from '../../core/entry/entry.ts'
import type { ComparedVersion } from '../crate-data.ts'
import { html, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { originOf } from './dependencies.ts'

/** Renders the changes since the previous version. */
export function changeSection(previous: string, list: readonly Change[]): Markup {
  return html`<p class="quiet">Since version ${previous}:</p>
<ul class="changes">
${list.map(
  change => html`<li><span class="badge ${change.kind}">${change.kind}</span> ${change.subject === 'MSRV' ? null : html`${change.subject} `}<strong>${change.name}</strong> <span class="quiet">${detail(change)}</span></li>
`,
)}</ul>`
}

function detail({ kind, before, after }: Change): string {
  if (kind === 'added') return after
  if (kind === 'removed') return before
  if (before === '') return `now ${after}`
  return after === '' ? `no longer ${before}` : `${before} → ${after}`
}

/** One difference between a version and the one before it. */
export interface Change {
  readonly kind: 'added' | 'removed' | 'changed'
  readonly subject: 'dependency' | 'feature' | 'MSRV'
  readonly name: string
  /** The parts that only the old or only the new version has; empty if there are none. */
  readonly before: string
  readonly after: string
}

/** Returns the changes of MSRV, dependencies and features, in this order, each by name. */
export function changes(
  site: Pick<SiteConfig, 'registries'>,
  before: ComparedVersion,
  after: ComparedVersion,
): Change[] {
  const rust = (of: ComparedVersion) =>
    new Map([['Rust version', [of.rust_version ?? 'not stated']]])
  const dependencies = (of: ComparedVersion) =>
    new Map(of.deps.map(one => [key(one), parts(site, one)]))
  const features = (of: ComparedVersion) =>
    new Map(Object.entries(of.features).map(([name, all]) => [name, [all.join(', ') || 'nothing']]))
  return [
    ...difference('MSRV', rust(before), rust(after)),
    ...difference('dependency', dependencies(before), dependencies(after)),
    ...difference('feature', features(before), features(after)),
  ]
}

type PartsByName = ReadonlyMap<string, readonly string[]>

function difference(subject: Change['subject'], before: PartsByName, after: PartsByName): Change[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort()
  const only = (some: readonly string[] = [], others: readonly string[] = []) =>
    some.filter(part => !others.includes(part)).join(' · ')
  return names.flatMap(name => {
    const [was, is] = [before.get(name), after.get(name)]
    const kind = was === undefined ? 'added' : is === undefined ? 'removed' : 'changed'
    const change = { kind, subject, name, before: only(was, is), after: only(is, was) } as const
    return kind === 'changed' && change.before === change.after ? [] : change
  })
}

/** Returns a unique key: a manifest may name a dependency once per kind and target. */
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
