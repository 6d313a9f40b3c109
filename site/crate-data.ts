import type { Dependency, Features } from '../core/entry/entry.ts'

/** What two versions are compared by. */
export interface ComparedVersion {
  readonly version: string
  readonly rustVersion: string | null
  readonly dependencies: readonly Dependency[]
  readonly features: Features
}

/** Everything a page says about one version. */
export interface VersionData extends ComparedVersion {
  readonly name: string
  readonly description: string | null
  /** `YYYY-MM-DDTHH:MM:SSZ`; null when unknown. */
  readonly published: string | null
  readonly publisher: string | null
  readonly yanked: boolean
  /** Size of the `.crate` in bytes. */
  readonly size: number
  readonly checksum: string
  /** Absolute URL of the `.crate`. */
  readonly download: string
  readonly license: string | null
  readonly licenseFile: string | null
  readonly edition: string | null
  readonly homepage: string | null
  readonly documentation: string | null
  readonly repository: string | null
  /** Folder of the package inside its repository, from `.cargo_vcs_info.json`. */
  readonly pathInVcs: string | null
  readonly keywords: readonly string[]
  readonly categories: readonly string[]
  readonly links: string | null
  /** The README as sanitized HTML: what `renderReadme` or `plainReadme` has made. */
  readonly readme: string | null
  /** Names of the programs it installs. */
  readonly binaries: readonly string[]
  readonly library: boolean
  /** Whether the source browser has this version. */
  readonly source: boolean
  /** The version before this one by precedence; null for the first. */
  readonly previous: ComparedVersion | null
}

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
