import type { Dependency, Entry, Features } from '../entry/entry.ts'
import { collect, type Issue, issue, warning } from '../error/error.ts'
import { indexUrlKey } from '../index-url.ts'
import type { Manifest } from '../manifest/manifest.ts'
import { parseRequirement } from '../requirement.ts'
import { describe, localized, metadataPlace, type Place, placeKey } from './dependency.ts'
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
  const messages: string[] = []
  const print = (deps: readonly Dependency[]) =>
    deps.map(dep => inPrint(dep, wordsOf({ ...dep, req: parseRequirement(dep.req) })))
  const packaged = print(localized(manifest.dependencies, own))
  for (const [dep, twin] of pairs(packaged, print(entry.deps))) {
    const words = describe((dep ?? twin)?.place as Place)
    const fields = dep && twin ? differences(dep, twin) : []
    if (fields.length > 0) messages.push(`${fields.join(', ')} of the ${words}`)
    if (!dep) messages.push(`the ${words} is only in the index`)
    if (!twin && dep?.place.kind !== 'dev') messages.push(`the ${words} is only in the Cargo.toml`)
  }
  for (const [feature, first, second] of featurePairs(manifest.features, entry.features)) {
    if (inWords(first) !== inWords(second)) messages.push(`the feature \`${feature}\``)
  }
  if (messages.length === 0) return []
  const rest = messages.length > NAMED ? [`and ${messages.length - NAMED} more`] : []
  return [
    warning('import_differs', { differences: [...messages.slice(0, NAMED), ...rest].join('; ') }),
  ]
}

function compareField(field: string, metadata: string, manifest: string): Issue[] {
  return metadata === manifest ? [] : [issue('metadata_identity', { field, metadata, manifest })]
}

function compareDependencies(
  declared: readonly Dependency[],
  claims: readonly PublishDependency[],
  own: Urls,
): Issue[] {
  const here = new Set([...own].map(indexUrlKey))
  const issues: Issue[] = []
  const packaged = declared.map(dep => inPrint(dep, wordsOf(dep)))
  const claimed = claims.map(claim =>
    inPrint(metadataPlace(claim), wordsOfClaim(claim, here, issues)),
  )
  for (const [inManifest, claim] of pairs(packaged, claimed)) {
    const dependency = describe((inManifest ?? claim)?.place as Place)
    if (!claim) issues.push(issue('metadata_dependency_missing', { dependency }))
    else if (!inManifest) issues.push(issue('metadata_dependency_extra', { dependency }))
    else
      for (const field of differences(inManifest, claim)) {
        const [metadata, manifest] = [claim.words[field] ?? '', inManifest.words[field] ?? '']
        issues.push(issue('metadata_dependency', { dependency, field, metadata, manifest }))
      }
  }
  return issues
}

type Described = Omit<Dependency, 'artifact'> & { readonly artifact?: readonly string[] | null }

/** Describes the compared fields of a dependency; equivalent URLs have the same text. */
function wordsOf(dep: Described): Words {
  const { name, req, features, optional, default_features, registry, artifact, ...rest } = dep
  return {
    // A rename to the same name does not count as a rename.
    name: say(rest.package ?? name),
    version_req: say(req),
    features: say(inOrder(features.filter(feature => feature !== ''))),
    optional: say(optional),
    default_features: say(default_features),
    registry: registry === null ? 'this registry' : `\`${indexUrlKey(registry)}\``,
    artifact: say(artifact ? inOrder(artifact) : null),
    bindep_target: say(rest.bindep_target ?? null),
    lib: say(rest.lib ?? false),
  }
}

/** Describes a dependency of the metadata, where `name` is always the real name. */
function wordsOfClaim(claim: PublishDependency, here: Urls, issues: Issue[]): Words {
  const req = collect(issues, () => parseRequirement(claim.version_req))
  const isHere = claim.registry !== null && here.has(indexUrlKey(claim.registry))
  const registry = isHere ? null : claim.registry
  const words = wordsOf({ ...claim, registry, req: req ?? '', package: null })
  // An invalid requirement has its own issue.
  return req === undefined ? { ...words, version_req: null } : words
}

function compareFeatures(packaged: Features, claims: Features): Issue[] {
  return featurePairs(packaged, claims).flatMap(([feature, inManifest, claim]) => {
    const [manifest, metadata] = [inWords(inManifest), inWords(claim)]
    if (manifest === metadata) return []
    // Some versions of Cargo omit items that name renamed dependencies (rust-lang/cargo#14325).
    const isLess = inManifest !== null && claim?.every(feature => inManifest.includes(feature))
    return [(isLess ? warning : issue)('metadata_feature', { feature, metadata, manifest })]
  })
}

/** The compared fields of a dependency; null equals everything. */
type Words = Readonly<Record<string, string | null>>

interface Printed {
  readonly place: Place
  readonly words: Words
  readonly key: string
  /** All that is compared. */
  readonly print: string
}

function inPrint(place: Place, words: Words): Printed {
  const key = placeKey(place)
  return { place, words, key, print: JSON.stringify([key, Object.values(words)]) }
}

const differences = ({ words }: Printed, other: Printed) =>
  Object.keys(words).filter(field => {
    const [mine, theirs] = [words[field], other.words[field]]
    return mine !== theirs && mine !== null && theirs !== null
  })

/**
 * Pairs the dependencies of two lists that are not equal, with null for a missing one. Targets that
 * print alike are one place with several dependencies: first, equal ones leave, wherever they are.
 */
function pairs(first: readonly Printed[], second: readonly Printed[]): Pair[] {
  const equal = grouped(second, 'print')
  const unequal = first.filter(({ print }) => !equal.get(print)?.pop())
  const others = grouped([...equal.values()].flat(), 'key')
  const pairs = unequal.map((each): Pair => [each, others.get(each.key)?.pop() ?? null])
  return [...pairs, ...[...others.values()].flat().map((each): Pair => [null, each])]
}

type Pair = readonly [Printed | null, Printed | null]

function grouped(all: readonly Printed[], by: 'print' | 'key'): Map<string, Printed[]> {
  const groups = new Map<string, Printed[]>()
  for (const each of all) groups.set(each[by], [])
  for (const each of all) groups.get(each[by])?.push(each)
  return groups
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

function say(value: unknown): string {
  return `\`${JSON.stringify(value)}\``
}

function inOrder(values: readonly string[]): string[] {
  return [...values].sort()
}
