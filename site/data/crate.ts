import type { VersionData } from './version.ts'

/** A crate in a list. */
export interface CrateItem {
  readonly name: string
  /** The newest version that is not yanked, or the newest of all. */
  readonly newest: string
  readonly description: string | null
  /** When its latest version was published; null when unknown. */
  readonly updatedAt: string | null
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

/** A crate of this registry whose newest version depends on the crate shown. */
export interface DependentRow {
  readonly name: string
  readonly version: string
  readonly req: string
  readonly kind: 'normal' | 'build' | 'dev'
  readonly optional: boolean
}

/** A user who may publish a crate. */
export interface OwnerRow {
  readonly login: string
  readonly name: string | null
}

/** Everything a crate's own page says. */
export interface CrateData {
  readonly name: string
  /** The version that represents the crate: the newest one not yanked, or the newest of all. */
  readonly newest: VersionData
  /** All versions, newest first by precedence. */
  readonly versions: readonly VersionRow[]
  readonly owners: readonly OwnerRow[]
  /** The first ones by name; `dependentCount` counts all. */
  readonly dependents: readonly DependentRow[]
  readonly dependentCount: number
}
