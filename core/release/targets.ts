import type { Manifest } from '../manifest/manifest.ts'
import type { ArchiveFile } from '../tarball/read.ts'

/** The targets of a crate: a library to depend on, programs to install. */
export interface Targets {
  readonly has_lib: boolean
  readonly bin_names: readonly string[]
}

/**
 * Finds the targets of a crate as Cargo does: those of the manifest, and the files `src/lib.rs`,
 * `src/main.rs`, `src/bin/NAME.rs` and `src/bin/NAME/main.rs`.
 */
export function findTargets(manifest: Manifest, files: readonly ArchiveFile[]): Targets {
  const paths = new Set(files.map(one => one.path))
  const { lib, bins, autolib, autobins } = manifest.targets
  const names = new Set(bins.map(one => one.name ?? manifest.name))
  if (autobins) {
    if (paths.has('src/main.rs')) names.add(manifest.name)
    for (const path of paths) {
      const match = /^src\/bin\/([^/]+?)(?:\.rs|\/main\.rs)$/.exec(path)
      if (match?.[1]) names.add(match[1])
    }
  }
  return {
    has_lib: lib !== null || (autolib && paths.has('src/lib.rs')),
    bin_names: [...names].sort(),
  }
}

/** Names that Cargo tries when the manifest does not name a README. */
const DEFAULT_READMES = ['README.md', 'README.txt', 'README']

/** Path of the README: what `package.readme` names, else a default name; null without one. */
export function findReadme(manifest: Manifest, files: readonly ArchiveFile[]): string | null {
  const paths = new Set(files.map(one => one.path))
  const candidates = manifest.readmeByDefault ? DEFAULT_READMES : [tidy(manifest.readmePath ?? '')]
  return candidates.find(path => paths.has(path)) ?? null
}

/** `./README.md` and `docs//a.md` in the form of the archive. */
function tidy(path: string): string {
  return path
    .split('/')
    .filter(part => part !== '' && part !== '.')
    .join('/')
}
