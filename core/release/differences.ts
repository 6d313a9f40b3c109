import type { Dependency, Entry } from '../entry/entry.ts'
import { type Issue, warning } from '../error/error.ts'
import type { Manifest } from '../manifest/manifest.ts'
import { parseRequirement } from '../requirement.ts'
import { describe, indexUrlKey, placeKey, toEntryDependency } from './dependency.ts'

/** Most differences that a note names. */
const NAMED = 5

/**
 * A note when an index entry and the packaged manifest differ in dependencies or features. Missing
 * dev-dependencies are ignored: several registries leave them out, and no build needs them.
 */
export function differences(entry: Entry, manifest: Manifest, own: ReadonlySet<string>): Issue[] {
  const keys = new Set([...own].map(indexUrlKey))
  const found = [
    ...compareDependencies(
      entry.deps,
      manifest.dependencies.map(one => toEntryDependency(one, keys)),
    ),
    ...compareFeatures(entry.features, manifest.features),
  ]
  if (found.length === 0) return []
  const rest = found.length > NAMED ? [`and ${found.length - NAMED} more`] : []
  return [
    warning('import_differs', { differences: [...found.slice(0, NAMED), ...rest].join('; ') }),
  ]
}

function compareDependencies(
  index: readonly Dependency[],
  manifest: readonly Dependency[],
): string[] {
  const waiting = new Map<string, Dependency[]>()
  for (const one of index) waiting.set(placeKey(one), [...(waiting.get(placeKey(one)) ?? []), one])
  const found: string[] = []
  for (const one of manifest) {
    const twin = waiting.get(placeKey(one))?.shift()
    if (twin) {
      const fields = FIELDS.filter(field => comparable(twin, field) !== comparable(one, field))
      if (fields.length > 0) found.push(`${fields.join(', ')} of the ${describe(one)}`)
    } else if (one.kind !== 'dev') found.push(`the ${describe(one)} is only in the Cargo.toml`)
  }
  for (const one of [...waiting.values()].flat())
    found.push(`the ${describe(one)} is only in the index`)
  return found
}

const FIELDS = ['req', 'features', 'optional', 'default_features', 'registry', 'package'] as const

function comparable(one: Dependency, field: (typeof FIELDS)[number]): string {
  if (field === 'req') return parseRequirement(one.req)
  if (field === 'features')
    return JSON.stringify([...one.features].filter(value => value !== '').sort())
  // A rename to the real name is none.
  if (field === 'package') return one.package ?? one.name
  if (field === 'registry') return one.registry === null ? '' : indexUrlKey(one.registry)
  return String(one[field])
}

function compareFeatures(index: Entry['features'], manifest: Entry['features']): string[] {
  const names = new Set([...Object.keys(index), ...Object.keys(manifest)])
  const say = (features: Entry['features'], name: string) =>
    Object.hasOwn(features, name) ? JSON.stringify([...(features[name] ?? [])].sort()) : ''
  return [...names]
    .filter(name => say(index, name) !== say(manifest, name))
    .map(name => `the feature \`${name}\``)
}
