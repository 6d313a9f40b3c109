/** Where a dependency applies (specification A.3). */
export type DependencyKind = 'normal' | 'build' | 'dev'

/** One dependency of an index entry; field names are those of the index (specification A.3, Cargo's index schema). */
export interface Dependency {
  /** The name it goes by in the crate: the rename, if there is one. */
  readonly name: string
  /** Requirement as Cargo prints it (`^1.0`). */
  readonly req: string
  readonly features: readonly string[]
  readonly optional: boolean
  readonly default_features: boolean
  readonly target: string | null
  readonly kind: DependencyKind
  /** Index URL of the registry it comes from; null for this one. */
  readonly registry: string | null
  /** The real name, when `name` is a rename. */
  readonly package: string | null
  /** Artifact dependencies (unstable `bindeps`): carried along, never made up. */
  readonly artifact?: readonly string[]
  readonly bindep_target?: string | null
  readonly lib?: boolean
  readonly public?: boolean
}

/** Feature name → what it enables. */
export type Features = Readonly<Record<string, readonly string[]>>

/** One line of an index file, with `features` whole (the split into `features2` is a matter of rendering). */
export interface Entry {
  readonly name: string
  readonly vers: string
  readonly deps: readonly Dependency[]
  readonly cksum: string
  readonly features: Features
  readonly yanked: boolean
  readonly links: string | null
  readonly rust_version: string | null
  /** `YYYY-MM-DDTHH:MM:SSZ`, exactly 20 characters; null when unknown. */
  readonly pubtime: string | null
}
