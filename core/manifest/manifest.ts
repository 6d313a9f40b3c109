import type { Dependency, Features } from '../entry/entry.ts'
import type { Name } from '../name.ts'
import type { Version } from '../version.ts'

/** What people read about a release; the index has none of it. */
export interface About {
  readonly description: string | null
  readonly homepage: string | null
  readonly documentation: string | null
  readonly repository: string | null
  readonly license: string | null
  readonly license_file: string | null
  readonly readme_file: string | null
  readonly keywords: readonly string[]
  readonly categories: readonly string[]
  readonly authors: readonly string[]
  readonly edition: string | null
  readonly badges: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Whether there is a library, and the programs that `cargo install` would build. */
  readonly has_lib?: boolean
  readonly bin_names?: readonly string[]
  /** Folder of the package in its repository, unless that is the root. */
  readonly vcs_path?: string
}

/** What decides which targets a crate has. */
export interface TargetHints {
  readonly lib: { readonly path: string | null } | null
  readonly bins: readonly { readonly name: string | null; readonly path: string | null }[]
  readonly autolib: boolean
  readonly autobins: boolean
}

/** A packaged `Cargo.toml`, read. */
export interface Manifest {
  readonly name: Name
  readonly version: Version
  /** `registry` is the URL that the publisher's Cargo uses for it, never null. */
  readonly dependencies: readonly Dependency[]
  readonly features: Features
  readonly links: string | null
  readonly rustVersion: string | null
  /** As the manifest says; `readme_file` and targets need the list of files, too. */
  readonly about: About
  /** Path that `package.readme` names; null when it names none. */
  readonly readmePath: string | null
  /** Whether a README in the top folder counts although `readme` is not set. */
  readonly readmeByDefault: boolean
  readonly targets: TargetHints
}
