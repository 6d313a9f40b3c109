import type { Dependency } from '../../core/entry/entry.ts'
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
export type VersionRow = Pick<
  VersionData,
  'version' | 'published' | 'publisher' | 'size' | 'rustVersion' | 'yanked'
>

/** A crate of this registry whose newest version depends on the crate shown. */
export interface DependentRow extends Pick<Dependency, 'req' | 'kind' | 'optional'> {
  readonly name: string
  readonly version: string
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
