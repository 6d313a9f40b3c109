import type { Dependency, Features } from '../../core/entry/entry.ts'

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
