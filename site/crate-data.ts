import type { Dependency, Entry } from '../core/entry/entry.ts'
import type { About } from '../core/manifest/manifest.ts'

/** A crate in a list. */
export interface CrateItem {
  readonly name: string
  /** The newest version that is not yanked, or the newest of all. */
  readonly newest: string
  readonly about: Pick<About, 'description' | 'keywords'>
  /** When its latest version was published; null when unknown. */
  readonly updatedAt: string | null
  /** Whether every version is yanked. */
  readonly yanked: boolean
}

/** A version in the list of a crate's versions. */
export interface VersionRow extends Pick<Entry, 'rust_version' | 'yanked'> {
  readonly version: string
  /** `YYYY-MM-DDTHH:MM:SSZ`; null when unknown. */
  readonly publishedAt: string | null
  readonly publishedBy: string | null
  /** Size of the `.crate` in bytes. */
  readonly size: number
}

/** What two versions are compared by. */
export interface ComparedVersion extends Pick<Entry, 'rust_version' | 'deps' | 'features'> {
  readonly version: string
}

/** Everything a page says about one version. */
export interface VersionData
  extends VersionRow,
    ComparedVersion,
    Pick<Entry, 'name' | 'cksum' | 'links'>,
    Omit<About, 'authors' | 'badges'> {
  /** Absolute URL of the `.crate`. */
  readonly download: string
  /** The README as sanitized HTML: what `renderReadme` or `plainReadme` has made. */
  readonly readme: string | null
  /** Whether the source browser has this version. */
  readonly source: boolean
  /** The version before this one by precedence; null for the first. */
  readonly previous: ComparedVersion | null
}

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
