import type { VersionFacts } from './version.ts'

/** A crate in a list. */
export interface CrateCard {
  readonly name: string
  /** Newest version that is not yanked, or the newest at all. */
  readonly version: string
  readonly description: string | null
  /** Time of its latest publish; null when unknown. */
  readonly updated: string | null
  /** Whether every version is yanked. */
  readonly yanked: boolean
}

/** A version in the list of a crate's versions. */
export interface VersionRow {
  readonly version: string
  readonly published: string | null
  readonly publisher: string | null
  readonly size: number
  readonly rustVersion: string | null
  readonly yanked: boolean
}

/** A crate of this registry whose newest version depends on the one shown. */
export interface Dependent {
  readonly name: string
  readonly version: string
  readonly req: string
  readonly kind: 'normal' | 'build' | 'dev'
  readonly optional: boolean
}

/** Someone who may publish a crate. */
export interface Owner {
  readonly login: string
  readonly name: string | null
}

/** Everything a crate's own page says. */
export interface CrateFacts {
  readonly name: string
  /** The version whose README and description stand for the crate: the newest not yanked, or the newest. */
  readonly newest: VersionFacts
  /** All versions, newest first by precedence. */
  readonly versions: readonly VersionRow[]
  readonly owners: readonly Owner[]
  /** The first of them, by name; `dependentCount` is how many there are. */
  readonly dependents: readonly Dependent[]
  readonly dependentCount: number
}
