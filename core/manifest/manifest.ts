import type { Dependency, Features } from '../entry/entry.ts'
import type { Name } from '../name.ts'
import type { Version } from '../version.ts'

/** Descriptive fields of a release; none of them is in the index. */
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
  /** Folder of the package in its repository; absent for the root. */
  readonly vcs_path?: string
  /** Index URL of the public registry from which it was imported; absent if there is none. */
  readonly origin?: string
}

export interface TargetHints {
  readonly lib: { readonly path: string | null } | null
  readonly bins: readonly { readonly name: string | null; readonly path: string | null }[]
  readonly autolib: boolean
  readonly autobins: boolean
  readonly hasExamples: boolean
}

export interface Manifest {
  readonly name: Name
  readonly version: Version
  /** `registry` is the URL that the publisher's Cargo uses for the registry, never null. */
  readonly dependencies: readonly Dependency[]
  readonly features: Features
  readonly links: string | null
  readonly rustVersion: string | null
  /** Lacks `readme_file` and the targets, which also depend on the list of files. */
  readonly about: About
  /** The path in `package.readme`; null without one. */
  readonly readmePath: string | null
  /** Whether `readme` is not set, so that a README in the top folder is used. */
  readonly readmeByDefault: boolean
  readonly targets: TargetHints
}
