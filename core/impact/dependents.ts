// core/impact: Which versions reach a crate through what they require. Command and projection call
// it; it never opens a file.
import type { DependencyKind } from '../entry/entry.ts'
import type { CanonicalName, Name } from '../name.ts'
import type { Requirement } from '../requirement.ts'
import { wholeHashOf } from '../search/layout.ts'
import type { Version } from '../version.ts'

/** A kind of dependency, or `ships with`: a packaged `Cargo.lock` names exactly one version. */
export type RequiringKind = DependencyKind | 'ships with'

/** How versions of one crate require another one; versions in publish order. */
export interface Requiring {
  readonly requirement: Requirement
  readonly kind: RequiringKind
  /** The index URL of the registry it comes from; null for this one. */
  readonly registry: string | null
  readonly versions: readonly Version[]
}

/** A crate of which any version requires another one. */
export interface Dependent {
  readonly crate: Name
  readonly requires: readonly Requiring[]
}

/** The content of a file of dependents: with more than `TOGETHER`, they are in shards. */
export type DependentsFile =
  | { readonly dependents: readonly Dependent[] }
  | { readonly shards: number }

export const TOGETHER = 256
export const SHARDS = 64

/** Returns the shard of a dependent; one without dependents has no file. */
export function shardOf(dependent: CanonicalName): number {
  return wholeHashOf(dependent) % SHARDS
}
