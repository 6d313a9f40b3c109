import type { Dependency, DependencyKind, Entry, Features, OtherKeys } from './entry.ts'
import { compareText } from './entry.ts'
import { splitFeatures } from './features.ts'

/**
 * The entry as one JSON line without its newline. The same entry always gives the same bytes: keys in the one order of
 * the format, features by name, dependencies as crates.io orders them, unknown keys of other writers last.
 */
export function renderEntry(entry: Entry): string {
  const split = splitFeatures(entry.features)
  const needed = schemaVersion(entry, split.features2 !== null)
  const fields = [
    field('name', entry.name),
    field('vers', entry.vers),
    `"deps":[${[...entry.deps].sort(compareDependencies).map(renderDependency).join(',')}]`,
    field('cksum', entry.cksum),
    `"features":${renderFeatures(split.features)}`,
    field('yanked', entry.yanked),
  ]
  if (entry.links !== null) fields.push(field('links', entry.links))
  if (split.features2) fields.push(`"features2":${renderFeatures(split.features2)}`)
  if (needed > 1) fields.push(field('v', needed))
  if (entry.rust_version !== null) fields.push(field('rust_version', entry.rust_version))
  if (entry.pubtime !== null) fields.push(field('pubtime', entry.pubtime))
  return `{${[...fields, ...renderOther(entry.other)].join(',')}}`
}

/** The index file of a crate: its entries in the given order, each line ended by `\n`. */
export function renderIndexFile(entries: readonly Entry[]): string {
  return entries.map(entry => `${renderEntry(entry)}\n`).join('')
}

/** 2 because of `features2`, 3 because of artifact dependencies; another writer's higher number stays. */
function schemaVersion(entry: Entry, hasFeatures2: boolean): number {
  if (entry.v !== undefined) return hasFeatures2 ? Math.max(entry.v, 2) : entry.v
  if (entry.deps.some(one => one.artifact !== undefined)) return 3
  return hasFeatures2 ? 2 : 1
}

function renderDependency(one: Dependency): string {
  const fields = [
    field('name', one.name),
    field('req', one.req),
    field('features', one.features),
    field('optional', one.optional),
    field('default_features', one.default_features),
    field('target', one.target),
    field('kind', one.kind),
    field('registry', one.registry),
    field('package', one.package),
  ]
  if (one.artifact !== undefined) fields.push(field('artifact', one.artifact))
  if (one.bindep_target !== undefined) fields.push(field('bindep_target', one.bindep_target))
  if (one.lib !== undefined) fields.push(field('lib', one.lib))
  if (one.public !== undefined) fields.push(field('public', one.public))
  return `{${[...fields, ...renderOther(one.other)].join(',')}}`
}

/** Written by hand: an object would put number-like names (`2018`) before all others. */
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
 * Orders dependencies as crates.io does: by name, then normal before build before dev (old Cargos misread `optional`
 * otherwise), then by all the rest, so that no two different dependencies are equal.
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
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareText(a[i] ?? '', b[i] ?? '')
    if (order !== 0) return order
  }
  return a.length - b.length
}
