import type { Dependency, DependencyKind } from '../entry/entry.ts'
import type { ManifestDependency } from '../manifest/manifest.ts'
import type { PublishDependency } from './metadata.ts'

/** The index URL of crates.io in every entry, even for users of its sparse index. */
export const CRATES_IO = 'https://github.com/rust-lang/crates.io-index'

/** What identifies a dependency within its crate. */
interface Place {
  readonly name: string
  readonly kind: DependencyKind
  readonly target: string | null
}

/** Key of a dependency that is the same in manifest, entry and metadata. */
export function placeKey(one: Place): string {
  return JSON.stringify([one.kind, normalTarget(one.target), one.name])
}

/** What identifies a dependency of the metadata, where `name` is always the real name. */
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

/** The dependency as an entry has it; `own` are the `indexUrlKey`s of this registry. */
export function toEntryDependency(one: ManifestDependency, own: ReadonlySet<string>): Dependency {
  const url = one.registryIndex ?? CRATES_IO
  return {
    name: one.name,
    req: one.req,
    features: one.features.filter(feature => feature !== ''),
    optional: one.optional,
    default_features: one.defaultFeatures,
    target: one.target,
    kind: one.kind,
    registry: own.has(indexUrlKey(url)) ? null : url,
    package: one.package,
    ...(one.artifact && { artifact: one.artifact, bindep_target: one.bindepTarget, lib: one.lib }),
  }
}

/** A `cfg(…)` without spaces and the last comma, which Cargo rewrites in the metadata only. */
export function normalTarget(target: string | null): string | null {
  const parts = target?.split('"') ?? null
  if (parts === null) return null
  return parts
    .map((part, at) => (at % 2 === 0 ? part.replaceAll(/\s+/g, '').replaceAll(',)', ')') : part))
    .join('"')
}
