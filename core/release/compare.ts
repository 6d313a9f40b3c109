import type { Dependency, Entry, Features } from '../entry/entry.ts'
import { collect, type Issue, issue, warning } from '../error/error.ts'
import { parseRequirement } from '../requirement.ts'
import { describe, indexUrlKey, metadataPlace, placeKey } from './dependency.ts'
import type { PublishDependency, PublishMetadata } from './metadata.ts'

/** The parts of a release that the publish metadata repeats. */
interface Facts {
  readonly name: string
  readonly version: string
  readonly entry: Pick<Entry, 'deps' | 'features' | 'links'>
}

/**
 * Compares a release with its publish metadata. Name and version must be equal, and every
 * dependency and feature the same after normalization (requirements as printed, any order, defaults
 * filled in, spaces of a `cfg(…)`). Each difference is an error naming the field; a feature of
 * which the metadata says less is a warning. `ownIndexUrls` are the URLs of this registry, which
 * the entry calls null.
 */
export function compareMetadata(
  release: Facts,
  metadata: PublishMetadata,
  ownIndexUrls: ReadonlySet<string> = new Set(),
): Issue[] {
  const own = new Set([...ownIndexUrls].map(indexUrlKey))
  return [
    ...compareIdentity('name', metadata.name, release.name),
    ...compareIdentity('vers', metadata.vers, release.version),
    ...compareLinks(metadata.links, release.entry.links),
    ...compareDependencies(release.entry.deps, metadata.deps, own),
    ...compareFeatures(release.entry.features, metadata.features),
  ]
}

function compareIdentity(field: string, metadata: string, manifest: string): Issue[] {
  return metadata === manifest ? [] : [issue('metadata_identity', { field, metadata, manifest })]
}

/** Metadata may leave `links` out; what it says must be so. */
function compareLinks(metadata: string | null, links: string | null): Issue[] {
  if (metadata === null || metadata === links) return []
  return [issue('metadata_identity', { field: 'links', metadata, manifest: links ?? '' })]
}

function compareDependencies(
  facts: readonly Dependency[],
  claims: readonly PublishDependency[],
  own: ReadonlySet<string>,
): Issue[] {
  const issues: Issue[] = []
  const waiting = new Map<string, PublishDependency[]>()
  for (const claim of claims) {
    const key = placeKey(metadataPlace(claim))
    const same = waiting.get(key)
    if (same) same.push(claim)
    else waiting.set(key, [claim])
  }
  for (const fact of facts) {
    const claim = waiting.get(placeKey(fact))?.shift()
    if (claim) issues.push(...compareDependency(fact, claim, own))
    else issues.push(issue('metadata_dependency_missing', { dependency: describe(fact) }))
  }
  for (const claim of [...waiting.values()].flat()) {
    issues.push(issue('metadata_dependency_extra', { dependency: describe(metadataPlace(claim)) }))
  }
  return issues
}

/** Compares field by field, with the field names of the metadata. */
function compareDependency(
  fact: Dependency,
  claim: PublishDependency,
  own: ReadonlySet<string>,
): Issue[] {
  const issues: Issue[] = []
  const requirement = collect(issues, () => parseRequirement(claim.version_req))
  const { registry, artifact } = claim
  const isHere = registry !== null && own.has(indexUrlKey(registry))
  const pairs: readonly [field: string, claimed: unknown, found: unknown][] = [
    ['name', claim.name, fact.package ?? fact.name],
    ['version_req', requirement ?? fact.req, fact.req],
    ['features', inOrder(claim.features.filter(one => one !== '')), inOrder(fact.features)],
    ['optional', claim.optional, fact.optional],
    ['default_features', claim.default_features, fact.default_features],
    ['registry', isHere ? null : registry, fact.registry],
    ['artifact', artifact && inOrder(artifact), fact.artifact ? inOrder(fact.artifact) : null],
    ['bindep_target', claim.bindep_target, fact.bindep_target ?? null],
    ['lib', claim.lib, fact.lib ?? false],
  ]
  const dependency = describe(fact)
  for (const [field, claimed, found] of pairs) {
    const [metadata, manifest] = [say(field, claimed), say(field, found)]
    if (metadata !== manifest)
      issues.push(issue('metadata_dependency', { dependency, field, metadata, manifest }))
  }
  return issues
}

function compareFeatures(facts: Features, claims: Features): Issue[] {
  const names = new Set([...Object.keys(facts), ...Object.keys(claims)])
  return [...names].flatMap(feature => {
    const [manifest, metadata] = [sayFeature(facts, feature), sayFeature(claims, feature)]
    if (manifest === metadata) return []
    // Some Cargos omit items that name renamed dependencies (rust-lang/cargo#14325).
    const [all, claimed] = [valuesOf(facts, feature), valuesOf(claims, feature)]
    const isLess = all !== null && (claimed ?? []).every(one => all.includes(one))
    return [(isLess ? warning : issue)('metadata_feature', { feature, metadata, manifest })]
  })
}

function sayFeature(features: Features, name: string): string {
  const values = valuesOf(features, name)
  return values ? `\`${JSON.stringify(inOrder(values))}\`` : 'absent'
}

function valuesOf(features: Features, name: string): readonly string[] | null {
  return Object.hasOwn(features, name) ? (features[name] ?? null) : null
}

/** The value in words; equal values and equal URLs give the same words. */
function say(field: string, value: unknown): string {
  if (field !== 'registry') return `\`${JSON.stringify(value)}\``
  return typeof value === 'string' ? `\`${indexUrlKey(value)}\`` : 'this registry'
}

function inOrder(values: readonly string[]): string[] {
  return [...values].sort()
}
