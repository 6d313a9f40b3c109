import type { Dependency, DependencyKind, Features } from '../../core/entry/entry.ts'
import { formatNumber } from '../../core/quantity.ts'
import type { ComparedVersion } from '../crate-data.ts'
import { type Child, html, join, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'
import { originOf } from './dependencies.ts'
import { FEATURES_SHOWN, itemCodes } from './features.ts'

/** One difference between the manifests of two versions. */
export interface Change {
  readonly kind: 'added' | 'removed' | 'changed'
  readonly name: string
  /** The old or the new state, in words. */
  readonly words: readonly Child[]
}

/** Differences of the same kind, such as in build dependencies. */
export interface ChangeGroup {
  readonly title: string
  readonly changes: readonly Change[]
}

type Registries = Pick<SiteConfig, 'registries'>

const KINDS: readonly [DependencyKind, title: string][] = [
  ['normal', 'Dependencies'],
  ['build', 'Build dependencies'],
  ['dev', 'Development dependencies'],
]

/** Returns the differences between two versions' manifests by groups, without empty groups. */
export function manifestChanges(
  site: Registries,
  before: ComparedVersion,
  after: ComparedVersion,
): ChangeGroup[] {
  const ofKind = (one: ComparedVersion, kind: DependencyKind) =>
    one.deps.filter(dependency => dependency.kind === kind)
  const groups = [
    { title: 'Package', changes: packageChanges(before, after) },
    ...KINDS.map(([kind, title]) => ({
      title,
      changes: dependencyChanges(site, ofKind(before, kind), ofKind(after, kind)),
    })),
    { title: 'Features', changes: featureChanges(before, after) },
  ]
  return groups.filter(one => one.changes.length > 0)
}

/** Returns the number of changes in all groups. */
export function countChanges(groups: readonly ChangeGroup[]): number {
  return groups.reduce((sum, one) => sum + one.changes.length, 0)
}

/** Renders the changes of a manifest by groups. */
export function changeList(groups: readonly ChangeGroup[]): Markup {
  return html`${groups.map(
    ({ title, changes }) => html`<h3>${title}</h3>
<ul class="changes">
${changes.slice(0, FEATURES_SHOWN).map(
  ({
    kind,
    name,
    words,
  }) => html`<li><span class="badge ${kind}">${kind}</span> <strong>${name}</strong> <span class="quiet">${join(words, ' · ')}</span></li>
`,
)}</ul>
${
  changes.length > FEATURES_SHOWN
    ? html`<p class="quiet">${formatNumber(changes.length - FEATURES_SHOWN)} more changes of this kind are not shown.</p>
`
    : null
}`,
  )}`
}

function packageChanges(before: ComparedVersion, after: ComparedVersion): Change[] {
  const license = (one: ComparedVersion) => one.license ?? one.license_file
  const facts: [name: string, was: string | null, is: string | null][] = [
    ['Rust version', before.rust_version, after.rust_version],
    ['Edition', before.edition, after.edition],
    ['License', license(before), license(after)],
    ['Links', before.links, after.links],
  ]
  return facts
    .filter(([, was, is]) => was !== is)
    .map(([name, was, is]) => ({ kind: 'changed', name, words: [turned(was, is)] }))
}

/** Returns `a → b`; null stands for an absent value. */
function turned(was: string | null, is: string | null): Markup {
  const part = (text: string | null) =>
    text === null ? html`not stated` : html`<code>${text}</code>`
  return html`${part(was)} → ${part(is)}`
}

function featureChanges(before: ComparedVersion, after: ComparedVersion): Change[] {
  const valuesOf = (features: Features, name: string) =>
    Object.hasOwn(features, name) ? features[name] : undefined
  const isOther = (name: string) => {
    const [old, now] = [valuesOf(before.features, name), valuesOf(after.features, name)]
    return !old || !now || old.length !== now.length || old.some((one, at) => one !== now[at])
  }
  // Most features stay as they are; sorting thousands of names would cost the most.
  const others = [Object.keys(before.features), Object.keys(after.features)].map(names =>
    names.filter(isOther),
  )
  return namesOf(...others).flatMap((name): Change[] => {
    const [old, now] = [valuesOf(before.features, name), valuesOf(after.features, name)]
    if (old === undefined || now === undefined) {
      const all = now ?? old ?? []
      const words = all.length === 0 ? [] : [html`enables ${itemCodes(all)}`]
      return [{ kind: now ? 'added' : 'removed', name, words }]
    }
    const words = differences(old, now, 'now enables', 'no longer enables')
    return words.length === 0 ? [] : [{ kind: 'changed', name, words }]
  })
}

/**
 * Compares dependencies of one kind. A name may occur once per target: equal targets are compared
 * first, and the rest pairwise in order, so that a changed target is one change.
 */
function dependencyChanges(
  site: Registries,
  before: readonly Dependency[],
  after: readonly Dependency[],
): Change[] {
  const [was, is] = [byNameAndTarget(before), byNameAndTarget(after)]
  return namesOf(was.keys(), is.keys()).flatMap((name): Change[] => {
    const [old, now] = [was.get(name) ?? NO_TARGETS, is.get(name) ?? NO_TARGETS]
    const gone = [...old.values()].filter(one => !now.has(one.target))
    const come = [...now.values()].filter(one => !old.has(one.target))
    const pairs = [
      ...[...old].map(([target, one]) => [one, now.get(target)] as const),
      ...gone.map((one, at) => [one, come[at]] as const),
    ]
    const changed = pairs.flatMap(([one, other]): Change[] => {
      const words = other ? dependencyWords(site, one, other) : []
      return words.length === 0 ? [] : [{ kind: 'changed', name, words }]
    })
    const whole = (kind: 'added' | 'removed', list: readonly Dependency[]) =>
      list.map(one => ({ kind, name, words: description(site, one) }))
    return [
      ...changed,
      ...whole('removed', gone.slice(come.length)),
      ...whole('added', come.slice(gone.length)),
    ]
  })
}

type ByTarget = ReadonlyMap<string | null, Dependency>

const NO_TARGETS: ByTarget = new Map()

function byNameAndTarget(list: readonly Dependency[]): Map<string, ByTarget> {
  const names = new Map<string, Map<string | null, Dependency>>()
  for (const one of list) {
    const targets = names.get(one.name) ?? new Map()
    names.set(one.name, targets.set(one.target, one))
  }
  return names
}

/** Describes the changes of a dependency. */
function dependencyWords(site: Registries, was: Dependency, is: Dependency): Child[] {
  const words: Child[] = []
  const origin = (one: Dependency) =>
    one.registry === null ? 'this registry' : originOf(site, one.registry, one.name).title
  if (was.req !== is.req) words.push(turned(was.req, is.req))
  if (was.package !== is.package)
    words.push(html`now the crate <code>${is.package ?? is.name}</code>`)
  if (was.optional !== is.optional) words.push(is.optional ? 'now optional' : 'no longer optional')
  if (was.default_features !== is.default_features)
    words.push(is.default_features ? 'now with default features' : 'now without default features')
  words.push(
    ...differences(was.features, is.features, 'now with feature', 'no longer with feature'),
  )
  if (was.target !== is.target)
    words.push(
      is.target === null
        ? 'now for every target'
        : was.target === null
          ? html`now only for <code>${is.target}</code>`
          : html`for ${turned(was.target, is.target)}`,
    )
  if (origin(was) !== origin(is)) words.push(`now from ${origin(is)}`)
  return words
}

/** Describes a dependency. */
function description(site: Registries, one: Dependency): Child[] {
  const words: Child[] = [html`<code>${one.req}</code>`]
  if (one.package !== null) words.push(html`the crate <code>${one.package}</code>`)
  if (one.optional) words.push('optional')
  if (!one.default_features) words.push('without default features')
  if (one.features.length > 0) words.push(html`with ${features(one.features)}`)
  if (one.target !== null) words.push(html`only for <code>${one.target}</code>`)
  if (one.registry !== null) words.push(`from ${originOf(site, one.registry, one.name).title}`)
  return words
}

function differences(
  was: readonly string[],
  is: readonly string[],
  more: string,
  fewer: string,
): Markup[] {
  const [old, now] = [new Set(was), new Set(is)]
  const [come, gone] = [is.filter(one => !old.has(one)), was.filter(one => !now.has(one))]
  return [
    ...(come.length > 0 ? [html`${more} ${itemCodes(come)}`] : []),
    ...(gone.length > 0 ? [html`${fewer} ${itemCodes(gone)}`] : []),
  ]
}

function features(names: readonly string[]): Markup {
  return html`feature${names.length > 1 ? 's' : ''} ${itemCodes(names)}`
}

function namesOf(...lists: readonly Iterable<string>[]): string[] {
  return [...new Set(lists.flatMap(list => [...list]))].sort()
}
