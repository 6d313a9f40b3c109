import type { Dependency } from '../entry/entry.ts'
import { indexUrlKey } from '../index-url.ts'
import { printTarget } from '../target.ts'
import type { PublishDependency } from './metadata.ts'

/** The fields that identify a dependency within its crate. */
export type Place = Pick<Dependency, 'name' | 'kind' | 'target'>

/** Returns the key of a dependency, which is equal in manifest, entry and metadata. */
export function placeKey({ name, kind, target }: Place): string {
  // Cargo sends `true` for a name `r#true`.
  const printed = target && printTarget(target).replaceAll(/\br#(?=(?:true|false)\b(?! =))/g, '')
  return JSON.stringify([kind, printed, name])
}

/** Returns the place of a dependency in the metadata, where `name` is always the real name. */
export function metadataPlace(dep: PublishDependency): Place {
  return { name: dep.explicit_name_in_toml ?? dep.name, kind: dep.kind, target: dep.target }
}

/** Describes a dependency for a message. */
export function describe({ name, kind, target }: Place): string {
  const noun = { normal: 'dependency', build: 'build-dependency', dev: 'dev-dependency' }[kind]
  return target === null ? `${noun} \`${name}\`` : `${noun} \`${name}\` for \`${target}\``
}

/** Returns the dependencies with null as the registry if it is one of the `own` URLs. */
export function localized(deps: readonly Dependency[], own: ReadonlySet<string>): Dependency[] {
  const keys = new Set([...own].map(indexUrlKey))
  return deps.map(dep =>
    dep.registry !== null && keys.has(indexUrlKey(dep.registry)) ? { ...dep, registry: null } : dep,
  )
}
