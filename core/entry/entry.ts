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
