import type { DependencyUse, Entry } from '../core/entry/entry.ts'
import type { About } from '../core/manifest/manifest.ts'
import type { Contents } from '../core/tarball/contents.ts'

/** A crate in a list. */
export interface CrateItem {
  readonly name: string
  /** The newest version that is not yanked, or the newest of all. */
  readonly newest: string
  readonly about: Pick<About, 'description' | 'keywords'>
  /** When its latest version was published; null if unknown. */
  readonly updatedAt: string | null
  /** Whether every version is yanked. */
  readonly yanked: boolean
  /** The number of crates of this registry that depend on it. */
  readonly dependents?: number
  /** Size of its newest `.crate`. */
  readonly bytes?: number
}

/** A version in the list of a crate's versions. */
export interface VersionRow extends Pick<Entry, 'rust_version' | 'yanked'> {
  readonly version: string
  /** `YYYY-MM-DDTHH:MM:SSZ`; null when unknown. */
  readonly publishedAt: string | null
  readonly publishedBy: string | null
  /** Size of the `.crate` in bytes. */
  readonly size: number
  /** Null when unknown. */
  readonly contents: Contents | null
}

/** The parts of a version that are compared with another version. */
export interface ComparedVersion
  extends Pick<Entry, 'rust_version' | 'links' | 'deps' | 'features'>,
    Pick<About, 'edition' | 'license' | 'license_file'> {
  readonly version: string
}

/** Everything that a page shows of one version. */
export interface VersionData
  extends VersionRow,
    ComparedVersion,
    Pick<Entry, 'name' | 'cksum' | 'links'>,
    Omit<About, 'authors' | 'badges'> {
  /** Absolute URL of the `.crate`. */
  readonly download: string
  /** The README as sanitized HTML: the result of `renderReadme` or `plainReadme`. */
  readonly readme: string | null
  /** The version before this one by precedence; null for the first. */
  readonly previous: ComparedVersion | null
}

/**
 * A crate of this registry whose newest version depends on the crate of the page, at least by name.
 */
export interface DependentRow extends DependencyUse {
  readonly name: string
  readonly version: string
}

/** A user who may publish a crate. */
export interface OwnerRow {
  readonly login: string
  readonly name: string | null
}

/** Everything that the page of a crate shows. */
export interface CrateData {
  readonly name: string
  /** The version that represents the crate: the newest one not yanked, or the newest of all. */
  readonly newest: VersionData
  /** At most `VERSIONS_MAX` of all versions, newest first by precedence. */
  readonly versions: readonly VersionRow[]
  readonly versionCount: number
  readonly owners: readonly OwnerRow[]
  /** The first dependents by name; `dependentCount` counts all of them. */
  readonly dependents: readonly DependentRow[]
  readonly dependentCount: number
  /**
   * The crates of this registry that have the name of a dependency from another registry: their
   * spelling by canonical name.
   */
  readonly here: ReadonlyMap<string, string>
  /** Whether there are files with its downloads. */
  readonly downloads: boolean
}
