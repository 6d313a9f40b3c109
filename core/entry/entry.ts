// core/entry: The lines of an index file. Publishes, imports and checks call it; it never reads one
// from a disk.
import { type CanonicalName, canonicalName } from '../name.ts'

export type DependencyKind = 'normal' | 'build' | 'dev'

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json }

/** Keys that the format does not define, with their values. */
export type OtherKeys = Readonly<Record<string, Json>>

/** One dependency of an index entry (specification A.3, Cargo's index schema). */
export interface Dependency {
  /** Its name in the crate: the new name if it is renamed. */
  readonly name: string
  /** Requirement as Cargo prints it (`^1.0`), or as another registry wrote it. */
  readonly req: string
  readonly features: readonly string[]
  readonly optional: boolean
  readonly default_features: boolean
  readonly target: string | null
  readonly kind: DependencyKind
  /** Index URL of the registry it comes from; null for this registry. */
  readonly registry: string | null
  /** The name of the crate, if the dependency is renamed. */
  readonly package: string | null
  readonly artifact?: readonly string[]
  readonly bindep_target?: string | null
  readonly lib?: boolean
  readonly public?: boolean
  readonly other?: OtherKeys
}

export type Features = Readonly<Record<string, readonly string[]>>

/** One line of an index file; there, the features are split into two maps. */
export interface Entry {
  readonly name: string
  readonly vers: string
  readonly deps: readonly Dependency[]
  readonly cksum: string
  readonly features: Features
  readonly yanked: boolean
  readonly links: string | null
  readonly rust_version: string | null
  /** `YYYY-MM-DDTHH:MM:SSZ`, exactly 20 characters; null when unknown. */
  readonly pubtime: string | null
  /** Schema version written by another registry; by default, the lowest possible is used. */
  readonly v?: number
  readonly other?: OtherKeys
}

/** Compares text by its UTF-8 bytes, as Rust does; lists in an index line use this order. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (x !== y) return utf8Order(x) - utf8Order(y)
  }
  return a.length - b.length
}

/** UTF-8 sorts characters that UTF-16 writes as surrogates (U+D800 to U+DFFF) after all others. */
function utf8Order(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}

export type DependencyUse = Pick<Dependency, 'req' | 'kind' | 'optional' | 'registry'>

/** Returns how `deps` depend on a crate, or null: first on this registry, then the strongest. */
export function dependencyOn(
  deps: readonly Dependency[],
  crate: CanonicalName,
): DependencyUse | null {
  const rank = ({ kind, optional, registry }: DependencyUse) =>
    6 * Number(registry !== null) + 2 * ['normal', 'build', 'dev'].indexOf(kind) + Number(optional)
  const [first] = deps
    .filter(dep => canonicalName(dep.package ?? dep.name) === crate)
    .sort((a, b) => rank(a) - rank(b))
  if (!first) return null
  const { req, kind, optional, registry } = first
  return { req, kind, optional, registry }
}

/** Returns the canonical names in `deps`, each with whether it comes only from elsewhere. */
export function dependencyNames(deps: readonly Dependency[]): Map<CanonicalName, boolean> {
  const names = new Map<CanonicalName, boolean>()
  for (const dep of deps) {
    const name = canonicalName(dep.package ?? dep.name)
    names.set(name, dep.registry !== null && (names.get(name) ?? true))
  }
  return names
}

/**
 * Renders an entry as one JSON line, without the newline. Equal entries become equal bytes: keys
 * are in the order of the format, features by name, dependencies as on crates.io, other keys last.
 */
export function renderEntry(entry: Entry): string {
  const [features, features2] = splitFeatures(entry.features)
  const needed = schemaVersion(entry, features2 !== null)
  const fields = [
    field('name', entry.name),
    field('vers', entry.vers),
    `"deps":[${[...entry.deps].sort(compareDependencies).map(renderDependency).join(',')}]`,
    field('cksum', entry.cksum),
    `"features":${renderFeatures(features)}`,
    field('yanked', entry.yanked),
  ]
  if (entry.links !== null) fields.push(field('links', entry.links))
  if (features2) fields.push(`"features2":${renderFeatures(features2)}`)
  if (needed > 1) fields.push(field('v', needed))
  if (entry.rust_version !== null) fields.push(field('rust_version', entry.rust_version))
  if (entry.pubtime !== null) fields.push(field('pubtime', entry.pubtime))
  return `{${[...fields, ...renderOther(entry.other)].join(',')}}`
}

/** Renders an index file from its lines in publish order, joined by line ends (specification A.2). */
export function indexText(lines: string): string {
  return `${lines}\n`
}

/** Returns 2 for `features2`, 3 for artifact dependencies; a higher `v` from elsewhere is kept. */
function schemaVersion(entry: Entry, hasFeatures2: boolean): number {
  if (entry.v !== undefined) return hasFeatures2 ? Math.max(entry.v, 2) : entry.v
  if (entry.deps.some(dep => dep.artifact !== undefined)) return 3
  return hasFeatures2 ? 2 : 1
}

function renderDependency(dep: Dependency): string {
  const { name, req, features, optional, default_features, target, kind, registry } = dep
  const usual = { name, req, features, optional, default_features, target, kind, registry }
  const { package: real, artifact, bindep_target, lib, public: isPublic } = dep
  // `JSON.stringify` leaves out undefined values.
  const rare = { package: real, artifact, bindep_target, lib, public: isPublic }
  const text = JSON.stringify({ ...usual, ...rare }).slice(1, -1)
  return `{${[text, ...renderOther(dep.other)].join(',')}}`
}

/**
 * Splits features as RFC 3143 requires. Cargo before 1.60 cannot read `dep:` and `?/`, so features
 * that use them, directly or indirectly, move to `features2`. Visits each value once.
 */
function splitFeatures(features: Features): [first: Features, second: Features | null] {
  const all = Object.entries(features)
  const isNew = (value: string) => value.startsWith('dep:') || value.includes('?/')
  const moved = new Set<string>()
  for (const [name, values] of all) if (values.some(isNew)) moved.add(name)
  if (moved.size === 0) return [features, null]
  const users = new Map<string, string[]>()
  for (const [name, values] of all) {
    for (const value of values) {
      const list = users.get(value)
      if (list) list.push(name)
      else users.set(value, [name])
    }
  }
  // The loop also visits names it adds to the set.
  for (const name of moved) for (const user of users.get(name) ?? []) moved.add(user)
  const pick = (isMoved: boolean) =>
    Object.fromEntries(all.filter(([name]) => moved.has(name) === isMoved))
  return [pick(false), pick(true)]
}

/** Renders features in order; `JSON.stringify` would put number-like names (`2018`) first. */
function renderFeatures(features: Features): string {
  const names = Object.keys(features).sort(compareText)
  return `{${names.map(name => field(name, features[name] ?? [])).join(',')}}`
}

function renderOther(other: OtherKeys = {}): string[] {
  return Object.keys(other)
    .sort(compareText)
    .map(key => field(key, other[key]))
}

function field(key: string, value: unknown): string {
  return `${JSON.stringify(key)}:${JSON.stringify(value)}`
}

const KIND_ORDER: Record<DependencyKind, number> = { normal: 0, build: 1, dev: 2 }

/**
 * Compares dependencies as crates.io does: by name, then normal, build, dev (otherwise old versions
 * of Cargo misread `optional`), then by everything else, so that the order is total.
 */
export function compareDependencies(a: Dependency, b: Dependency): number {
  return (
    compareText(a.name, b.name) ||
    KIND_ORDER[a.kind] - KIND_ORDER[b.kind] ||
    compareText(a.req, b.req) ||
    Number(a.optional) - Number(b.optional) ||
    Number(a.default_features) - Number(b.default_features) ||
    compareNullable(a.target, b.target) ||
    compareNullable(a.package, b.package) ||
    compareLists(a.features, b.features) ||
    compareText(renderDependency(a), renderDependency(b))
  )
}

function compareNullable(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  return compareText(a, b)
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((key, index) => key !== b[index])
  return at === -1 || at >= b.length ? a.length - b.length : compareText(a[at] ?? '', b[at] ?? '')
}
