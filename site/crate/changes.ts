import type { Dependency, DependencyKind, Features } from '../../core/entry/entry.ts'
import {
  changesPath,
  comparePath,
  cratePath,
  sourcePath,
  versionPath,
} from '../../core/paths/crates.ts'
import { type Output, output } from '../../core/paths/tree.ts'
import { counted, formatNumber } from '../../core/quantity.ts'
import type { ComparedVersion, VersionData } from '../crate-data.ts'
import { cut, trail } from '../elements/elements.ts'
import { type Linker, linker } from '../elements/links.ts'
import { type Child, html, join, type Markup } from '../elements/markup.ts'
import { layout } from '../layout/layout.ts'
import type { SiteConfig } from '../site-config.ts'
import { originOf } from './dependencies.ts'
import { FEATURES_SHOWN, itemCodes } from './features.ts'

export interface Change {
  readonly kind: 'added' | 'removed' | 'changed'
  readonly name: string
  /** The old or the new state, in words. */
  readonly words: readonly Child[]
}

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
  const ofKind = (version: ComparedVersion, kind: DependencyKind) =>
    version.deps.filter(dependency => dependency.kind === kind)
  const groups = [
    { title: 'Package', changes: packageChanges(before, after) },
    ...KINDS.map(([kind, title]) => ({
      title,
      changes: dependencyChanges(site, ofKind(before, kind), ofKind(after, kind)),
    })),
    { title: 'Features', changes: featureChanges(before, after) },
  ]
  return groups.filter(group => group.changes.length > 0)
}

/** Returns the number of changes in all groups. */
export function countChanges(groups: readonly ChangeGroup[]): number {
  return groups.reduce((sum, group) => sum + group.changes.length, 0)
}

interface ChangeSection {
  /** Number of changes in the manifest; null if there is more to see, 0 if there is nothing. */
  readonly amount: number | null
  readonly body: Markup
}

/** Renders the changes since the previous version, and a link to the comparison of its files. */
export function changeSection(site: SiteConfig, version: VersionData, to: Linker): ChangeSection {
  const { name, previous } = version
  if (previous === null) return { amount: 0, body: html`` }
  const groups = manifestChanges(site, previous, version)
  const amount = countChanges(groups)
  const list =
    amount === 0
      ? html`<p>Nothing in the manifest changed except the version.</p>`
      : changeList(groups)
  const compared = `${to(comparePath(name))}#${previous.version}...${version.version}`
  const files = site.source ? html`<p><a href="${compared}">Changed files and lines</a></p>` : null
  const body = html`<p class="quiet">Since version ${previous.version}${amount === 0 ? null : html`: ${counted(amount, 'change')} in the manifest`}.</p>
${files}${list}`
  return { amount: amount === 0 && site.source ? null : amount, body }
}

/** Renders the page with a version's changes in its manifest since the previous version. */
export function changesPage(
  site: SiteConfig,
  after: Pick<VersionData, 'name'> & ComparedVersion,
  before: ComparedVersion,
): Output {
  const { name, version } = after
  const path = changesPath(name, version)
  const to = linker(site, path)
  const groups = manifestChanges(site, before, after)
  const title = `Changes from ${before.version} to ${version}`
  const source = (number: string) =>
    html`<a href="${to(sourcePath(name, number))}">Source of ${number}</a>`
  const main = html`<div class="wide page compare">
${trail(to, [cratePath(name), name], [versionPath(name, version), version], 'Changes')}
<h1>${title}</h1>
<p class="compare-links"><a href="${to(comparePath(name))}#${before.version}...${version}">Compare the files</a> ${source(before.version)} ${source(version)}</p>
<section class="manifest" aria-label="Manifest"><h2>Manifest</h2>
${groups.length === 0 ? html`<p>Nothing that Cargo reads differs except the version.</p>` : changeList(groups)}</section>
</div>`
  return output(path, layout(site, { path, title: `${title} · ${name}`, main, canonical: null }))
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
  }) => html`<li><span class="badge ${kind}">${kind}</span> <strong>${cut(name)}</strong> <span class="quiet">${join(words, ' · ')}</span></li>
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
  const license = (version: ComparedVersion) => version.license ?? version.license_file
  const fields: [name: string, was: string | null, is: string | null][] = [
    ['Rust version', before.rust_version, after.rust_version],
    ['Edition', before.edition, after.edition],
    ['License', license(before), license(after)],
    ['Links', before.links, after.links],
  ]
  return fields
    .filter(([, was, is]) => was !== is)
    .map(([name, was, is]) => ({ kind: 'changed', name, words: [turned(was, is)] }))
}

/** Returns `a → b`; null stands for an absent value. */
function turned(was: string | null, is: string | null): Markup {
  const part = (text: string | null) =>
    text === null ? html`not stated` : html`<code>${cut(text)}</code>`
  return html`${part(was)} → ${part(is)}`
}

function featureChanges(before: ComparedVersion, after: ComparedVersion): Change[] {
  const valuesOf = (features: Features, name: string) =>
    Object.hasOwn(features, name) ? features[name] : undefined
  const isOther = (name: string) => {
    const [old, now] = [valuesOf(before.features, name), valuesOf(after.features, name)]
    return !old || !now || old.length !== now.length || old.some((item, at) => item !== now[at])
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
    const gone = [...old.values()].filter(dep => !now.has(dep.target))
    const come = [...now.values()].filter(dep => !old.has(dep.target))
    const pairs = [
      ...[...old].map(([target, dep]) => [dep, now.get(target)] as const),
      ...gone.map((dep, at) => [dep, come[at]] as const),
    ]
    const changed = pairs.flatMap(([dep, next]): Change[] => {
      const words = next ? dependencyWords(site, dep, next) : []
      return words.length === 0 ? [] : [{ kind: 'changed', name, words }]
    })
    const whole = (kind: 'added' | 'removed', list: readonly Dependency[]) =>
      list.map(dep => ({ kind, name, words: description(site, dep) }))
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
  for (const dep of list) {
    const targets = names.get(dep.name) ?? new Map()
    names.set(dep.name, targets.set(dep.target, dep))
  }
  return names
}

function dependencyWords(site: Registries, was: Dependency, is: Dependency): Child[] {
  const words: Child[] = []
  const origin = (dep: Dependency) =>
    dep.registry === null ? 'this registry' : originOf(site, dep.registry, dep.name).title
  if (was.req !== is.req) words.push(turned(was.req, is.req))
  if (was.package !== is.package)
    words.push(html`now the crate <code>${cut(is.package ?? is.name)}</code>`)
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
          ? html`now only for <code>${cut(is.target)}</code>`
          : html`for ${turned(was.target, is.target)}`,
    )
  if (origin(was) !== origin(is)) words.push(`now from ${origin(is)}`)
  return words
}

function description(site: Registries, dep: Dependency): Child[] {
  const words: Child[] = [html`<code>${cut(dep.req)}</code>`]
  if (dep.package !== null) words.push(html`the crate <code>${cut(dep.package)}</code>`)
  if (dep.optional) words.push('optional')
  if (!dep.default_features) words.push('without default features')
  if (dep.features.length > 0) words.push(html`with ${features(dep.features)}`)
  if (dep.target !== null) words.push(html`only for <code>${cut(dep.target)}</code>`)
  if (dep.registry !== null) words.push(`from ${originOf(site, dep.registry, dep.name).title}`)
  return words
}

function differences(
  was: readonly string[],
  is: readonly string[],
  more: string,
  fewer: string,
): Markup[] {
  const [old, now] = [new Set(was), new Set(is)]
  const [come, gone] = [is.filter(item => !old.has(item)), was.filter(item => !now.has(item))]
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
