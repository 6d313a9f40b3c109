import type { Dependency, Entry, Features } from '../entry/entry.ts'
import { collect, type Issue, issue, warning } from '../error/error.ts'
import type { Manifest } from '../manifest/manifest.ts'
import { parseRequirement } from '../requirement.ts'
import {
  describe,
  indexUrlKey,
  localized,
  metadataPlace,
  type Place,
  placeKey,
} from './dependency.ts'
import type { PublishDependency, PublishMetadata } from './metadata.ts'
import type { Release } from './release.ts'

const NAMED = 5

type Urls = ReadonlySet<string>

/**
 * Compares a release with its publish metadata. Name, version, and every dependency and feature
 * must be the same after normalization (requirements as printed, any order, defaults filled in,
 * spaces of a `cfg(…)`). A feature with fewer values in the metadata is only a warning.
 * `own` are the URLs of this registry, for which the entry has null.
 */
export function compareMetadata(
  { name, version, entry }: Pick<Release, 'name' | 'version' | 'entry'>,
  metadata: PublishMetadata,
  own: Urls = new Set(),
): Issue[] {
  return [
    ...compareField('name', metadata.name, name),
    ...compareField('vers', metadata.vers, version),
    // Metadata may omit `links`.
    ...(metadata.links === null ? [] : compareField('links', metadata.links, entry.links ?? '')),
    ...compareDependencies(entry.deps, metadata.deps, own),
    ...compareFeatures(entry.features, metadata.features),
  ]
}

/**
 * Returns a warning if an index entry and the packaged manifest differ in dependencies or features.
 * Missing dev-dependencies are ignored: several registries omit them, and no build needs them.
 */
export function compareManifest(entry: Entry, manifest: Manifest, own: Urls): Issue[] {
  const found: string[] = []
  for (const [dep, twin] of pairs(localized(manifest.dependencies, own), entry.deps, x => x)) {
    const words = describe((dep ?? twin) as Dependency)
    const fields = FIELDS.filter(field => dep && twin && plain(dep, field) !== plain(twin, field))
    if (fields.length > 0) found.push(`${fields.join(', ')} of the ${words}`)
    if (!dep) found.push(`the ${words} is only in the index`)
    if (!twin && dep?.kind !== 'dev') found.push(`the ${words} is only in the Cargo.toml`)
  }
  for (const [feature, first, second] of featurePairs(manifest.features, entry.features)) {
    if (inWords(first) !== inWords(second)) found.push(`the feature \`${feature}\``)
  }
  if (found.length === 0) return []
  const rest = found.length > NAMED ? [`and ${found.length - NAMED} more`] : []
  return [
    warning('import_differs', { differences: [...found.slice(0, NAMED), ...rest].join('; ') }),
  ]
}

const FIELDS = ['req', 'features', 'optional', 'default_features', 'registry', 'package'] as const

function plain(dep: Dependency, field: (typeof FIELDS)[number]): string {
  if (field === 'req') return parseRequirement(dep.req)
  if (field === 'features') return inWords(dep.features.filter(value => value !== ''))
  // A rename to the same name does not count as a rename.
  if (field === 'package') return dep.package ?? dep.name
  if (field === 'registry') return dep.registry === null ? '' : indexUrlKey(dep.registry)
  return String(dep[field])
}

function compareField(field: string, metadata: string, manifest: string): Issue[] {
  return metadata === manifest ? [] : [issue('metadata_identity', { field, metadata, manifest })]
}

function compareDependencies(
  facts: readonly Dependency[],
  claims: readonly PublishDependency[],
  own: Urls,
): Issue[] {
  return pairs(facts, claims, metadataPlace).flatMap(([fact, claim]) => {
    if (fact && claim) return compareDependency(fact, claim, own)
    const words = describe(fact ?? metadataPlace(claim as PublishDependency))
    const code = fact ? 'metadata_dependency_missing' : 'metadata_dependency_extra'
    return [issue(code, { dependency: words })]
  })
}

function compareDependency(fact: Dependency, claim: PublishDependency, own: Urls): Issue[] {
  const issues: Issue[] = []
  const requirement = collect(issues, () => parseRequirement(claim.version_req))
  const { registry, artifact } = claim
  const isHere = registry !== null && [...own].map(indexUrlKey).includes(indexUrlKey(registry))
  const table: readonly [field: string, claimed: unknown, found: unknown][] = [
    ['name', claim.name, fact.package ?? fact.name],
    ['version_req', requirement ?? fact.req, fact.req],
    ['features', inOrder(claim.features.filter(feature => feature !== '')), inOrder(fact.features)],
    ['optional', claim.optional, fact.optional],
    ['default_features', claim.default_features, fact.default_features],
    ['registry', isHere ? null : registry, fact.registry],
    ['artifact', artifact && inOrder(artifact), fact.artifact ? inOrder(fact.artifact) : null],
    ['bindep_target', claim.bindep_target, fact.bindep_target ?? null],
    ['lib', claim.lib, fact.lib ?? false],
  ]
  const words = describe(fact)
  for (const [field, claimed, found] of table) {
    const [metadata, manifest] = [say(field, claimed), say(field, found)]
    if (metadata !== manifest)
      issues.push(issue('metadata_dependency', { dependency: words, field, metadata, manifest }))
  }
  return issues
}

function compareFeatures(facts: Features, claims: Features): Issue[] {
  return featurePairs(facts, claims).flatMap(([feature, fact, claim]) => {
    const [manifest, metadata] = [inWords(fact), inWords(claim)]
    if (manifest === metadata) return []
    // Some versions of Cargo omit items that name renamed dependencies (rust-lang/cargo#14325).
    const isLess = fact !== null && claim?.every(feature => fact.includes(feature))
    return [(isLess ? warning : issue)('metadata_feature', { feature, metadata, manifest })]
  })
}

/** Pairs the dependencies of two lists by place, with null for a missing one. */
function pairs<T>(
  first: readonly Dependency[],
  second: readonly T[],
  placeOf: (item: T) => Place,
): [Dependency | null, T | null][] {
  const waiting = new Map<string, T[]>()
  for (const item of second) {
    const key = placeKey(placeOf(item))
    const same = waiting.get(key)
    if (same) same.push(item)
    else waiting.set(key, [item])
  }
  const found = first.map((mine): [Dependency, T | null] => [
    mine,
    waiting.get(placeKey(mine))?.shift() ?? null,
  ])
  const extra = [...waiting.values()].flat()
  return [...found, ...extra.map((item): [null, T] => [null, item])]
}

function featurePairs(first: Features, second: Features) {
  const names = new Set([...Object.keys(first), ...Object.keys(second)])
  const valuesOf = (features: Features, name: string) =>
    Object.hasOwn(features, name) ? (features[name] ?? null) : null
  return [...names].map(name => [name, valuesOf(first, name), valuesOf(second, name)] as const)
}

function inWords(values: readonly string[] | null): string {
  return values ? `\`${JSON.stringify(inOrder(values))}\`` : 'absent'
}

/** Describes a value; equal values and equivalent URLs have the same description. */
function say(field: string, value: unknown): string {
  if (field !== 'registry') return `\`${JSON.stringify(value)}\``
  return typeof value === 'string' ? `\`${indexUrlKey(value)}\`` : 'this registry'
}

function inOrder(values: readonly string[]): string[] {
  return [...values].sort()
}
