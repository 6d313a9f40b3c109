// site: Data in, HTML out, and the scripts of browsers. Projections and daemon call it; it never
// reads records.

import type { Advisory } from '../core/advisory/advisory.ts'
import type { DependencyUse, Entry } from '../core/entry/entry.ts'
import type { About } from '../core/manifest/manifest.ts'
import type { Deprecation } from '../core/notes/notes.ts'
import type { Contents } from '../core/tarball/contents.ts'
import type { Job } from '../core/trust/job.ts'

export interface CrateItem {
  readonly name: string
  /** The newest version that is not yanked, or the newest of all. */
  readonly newest: string
  readonly about: Pick<About, 'description'>
  /** When its latest version was published; null if unknown. */
  readonly updatedAt: string | null
  readonly yanked: boolean
  readonly deprecation?: Deprecation | null
  readonly dependents?: number
  readonly bytes?: number
}

export interface VersionRow extends Pick<Entry, 'rust_version' | 'yanked'> {
  readonly version: string
  /** `YYYY-MM-DDTHH:MM:SSZ`; null when unknown. */
  readonly publishedAt: string | null
  readonly publishedBy: string | null
  /** The job of a CI system that published it; nothing of it is to be trusted. */
  readonly job?: Job | null
  readonly yankReason?: string | null
  readonly deprecation?: Deprecation | null
  /** Those that cover it. */
  readonly advisories?: readonly Advisory[]
  readonly size: number
  readonly contents: Contents | null
}

/** A version in the table of a crate's versions. */
export interface ListedVersion extends VersionRow, Pick<About, 'license' | 'license_file'> {
  /** Null where they are not compared. */
  readonly features: Entry['features'] | null
}

export interface ComparedVersion
  extends Pick<Entry, 'rust_version' | 'links' | 'deps' | 'features'>,
    Pick<About, 'edition' | 'license' | 'license_file'> {
  readonly version: string
}

export interface VersionData
  extends VersionRow,
    ComparedVersion,
    Pick<Entry, 'name' | 'cksum' | 'links'>,
    Omit<About, 'authors' | 'badges'> {
  readonly download: string
  /** The README as sanitized HTML: from `renderReadme` or `plainReadme`. */
  readonly readme: string | null
  /** What advisories say, likewise, by id; of those that come first. */
  readonly advisoryTexts?: ReadonlyMap<string, string>
  /** The version before this one by precedence; null for the first. */
  readonly previous: ComparedVersion | null
}

/** A crate of this registry whose newest version depends on a crate with the page's name. */
export interface DependentRow extends DependencyUse {
  readonly name: string
  readonly version: string
}

export interface OwnerRow {
  readonly login: string
  readonly name: string | null
}

export interface CrateData {
  readonly name: string
  /** The version that represents the crate: the newest one not yanked, or the newest of all. */
  readonly newest: VersionData
  /** At most `VERSIONS_MAX` of all versions, newest first by precedence. */
  readonly versions: readonly ListedVersion[]
  readonly versionCount: number
  readonly owners: readonly OwnerRow[]
  /** Those with the most dependents of their own; `dependentCount` counts all. */
  readonly dependents: readonly DependentRow[]
  readonly dependentCount: number
  /** Crates here named like a dependency from elsewhere: their spelling by canonical name. */
  readonly namesakes: ReadonlyMap<string, string>
  /** Whether there are files with its downloads. */
  readonly downloads: boolean
}
