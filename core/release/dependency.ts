import type { Dependency } from '../entry/entry.ts'
import type { PublishDependency } from './metadata.ts'

/** What identifies a dependency within its crate. */
export type Place = Pick<Dependency, 'name' | 'kind' | 'target'>

/** Key of a dependency; equal in manifest, entry and metadata. */
export function placeKey({ name, kind, target }: Place): string {
  // Only in the metadata, Cargo rewrites `cfg(…)` without spaces and the last comma.
  const parts = target?.split('"').map((part, at) => {
    return at % 2 === 0 ? part.replaceAll(/\s+/g, '').replaceAll(',)', ')') : part
  })
  return JSON.stringify([kind, parts?.join('"') ?? null, name])
}

/** The place of a dependency of the metadata, where `name` is always the real name. */
export function metadataPlace(one: PublishDependency): Place {
  return { name: one.explicit_name_in_toml ?? one.name, kind: one.kind, target: one.target }
}

/** The dependency in words for a message. */
export function describe({ name, kind, target }: Place): string {
  const noun = { normal: 'dependency', build: 'build-dependency', dev: 'dev-dependency' }[kind]
  return target === null ? `${noun} \`${name}\`` : `${noun} \`${name}\` for \`${target}\``
}

/** An index URL without a trailing slash, which does not matter. */
export function indexUrlKey(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url
}

/** The dependencies with null as the registry of those on this one, which `own` URLs mean. */
export function localized(deps: readonly Dependency[], own: ReadonlySet<string>): Dependency[] {
  const keys = new Set([...own].map(indexUrlKey))
  return deps.map(one =>
    one.registry !== null && keys.has(indexUrlKey(one.registry)) ? { ...one, registry: null } : one,
  )
}
