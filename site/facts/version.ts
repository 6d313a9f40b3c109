/** One dependency, in the words of the index; a dependency of an index entry fits as it is. */
export interface DependencyFacts {
  readonly name: string
  readonly req: string
  readonly features: readonly string[]
  readonly optional: boolean
  readonly default_features: boolean
  readonly target: string | null
  readonly kind: 'normal' | 'build' | 'dev'
  /** Index URL of the registry it comes from; null for this one. */
  readonly registry: string | null
  /** The real name, when `name` is a rename. */
  readonly package: string | null
}

/** Feature name → what it enables. */
export type FeatureFacts = Readonly<Record<string, readonly string[]>>

/** A README as it lies in the package. */
export interface ReadmeFacts {
  readonly text: string
  /** Path inside the package; its extension says whether it is Markdown, its folder where links start. */
  readonly path: string
}

/** What two versions are compared by. */
export interface ComparedFacts {
  readonly version: string
  readonly rustVersion: string | null
  readonly dependencies: readonly DependencyFacts[]
  readonly features: FeatureFacts
}

/** Everything a page says about one version. */
export interface VersionFacts extends ComparedFacts {
  readonly name: string
  readonly description: string | null
  /** `YYYY-MM-DDTHH:MM:SSZ`; null when unknown. */
  readonly published: string | null
  readonly publisher: string | null
  readonly yanked: boolean
  /** Size of the `.crate` in bytes. */
  readonly size: number
  readonly checksum: string
  /** Where the `.crate` is: an absolute URL. */
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
  readonly readme: ReadmeFacts | null
  /** Names of the programs it installs. */
  readonly binaries: readonly string[]
  readonly library: boolean
  /** Whether the source browser has this version. */
  readonly source: boolean
  /** The version before this one by precedence; null for the first. */
  readonly previous: ComparedFacts | null
}
