import type { Dependency, DependencyKind, Entry, Features, OtherKeys } from './entry.ts'
import { compareText } from './entry.ts'

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
