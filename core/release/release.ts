// core/release: What a release is, and how it is read from a `.crate`. Publishes and imports call
// it; it keeps nothing.
import { compareDependencies, compareText, type Entry } from '../entry/entry.ts'
import { CRATES_IO } from '../index-url.ts'
import type { About, Manifest } from '../manifest/manifest.ts'
import type { Name } from '../name.ts'
import type { Contents } from '../tarball/contents.ts'
import type { Archive, ArchiveFile } from '../tarball/read.ts'
import { isPubtime } from '../timestamp.ts'
import type { Version } from '../version.ts'
import { localized, metadataPlace, placeKey } from './dependency.ts'
import type { Locked } from './locked.ts'
import type { PublishMetadata } from './metadata.ts'

/** One version without its bytes, as created by a publish, `plimsoll add` or an import. */
export interface Release {
  readonly name: Name
  readonly version: Version
  readonly entry: Entry
  readonly about: About
  readonly readme: string | null
  readonly size: number
  readonly contents: Contents
  readonly files: readonly ArchiveFile[]
  readonly locked: Locked
}

export interface ReleaseParts {
  readonly archive: Archive
  readonly manifest: Manifest
  readonly readme: string | null
  readonly locked?: Locked
  readonly cksum: string
  readonly size: number
  readonly pubtime: string | null
  readonly ownIndexUrls: ReadonlySet<string>
  /** From the publisher's Cargo; may contain URLs of this registry that are not in the settings. */
  readonly metadata?: PublishMetadata | undefined
}

/** Creates a release from its `.crate`; the packaged manifest is authoritative. */
export function makeRelease(parts: ReleaseParts): Release {
  const { archive, manifest, readme, locked = [], cksum, size, pubtime } = parts
  if (pubtime !== null && !isPubtime(pubtime)) throw new TypeError(`not a pubtime: ${pubtime}`)
  const { name, version } = manifest
  const { files, vcsPath } = archive
  const { licenses } = archive.contents
  // Whatever its name, and in whatever folder.
  const named = files.flatMap(({ path }) =>
    path === licensePath(manifest.about) && !licenses.includes(path) ? path : [],
  )
  const contents = { ...archive.contents, licenses: [...licenses, ...named] }
  const entry = entryOf(manifest, cksum, pubtime, ownUrls(parts))
  const about = { ...aboutOf(manifest, files), ...(vcsPath && { vcs_path: vcsPath }) }
  return { name, version, entry, about, readme, size, contents, files, locked }
}

/** Creates the index entry from a manifest; `own` are the URLs of this registry. */
export function entryOf(
  { name, version, dependencies, features, links, rustVersion }: Manifest,
  cksum: string,
  pubtime: string | null,
  own: ReadonlySet<string>,
): Entry {
  return {
    name,
    vers: version,
    deps: localized(dependencies, own).sort(compareDependencies),
    cksum,
    features: Object.fromEntries(Object.entries(features).sort(([a], [b]) => compareText(a, b))),
    yanked: false,
    links,
    rust_version: rustVersion,
    pubtime,
  }
}

/**
 * Returns the URLs of this registry: those in the settings, and those in the manifest that the
 * publisher's Cargo treats as the target of the publish (such as `localhost` for `127.0.0.1`).
 */
export function ownUrls({
  manifest,
  ownIndexUrls,
  metadata,
}: Pick<ReleaseParts, 'manifest' | 'ownIndexUrls' | 'metadata'>): ReadonlySet<string> {
  const published = new Set(
    metadata?.deps.filter(dep => dep.registry === null).map(dep => placeKey(metadataPlace(dep))),
  )
  const aliases = manifest.dependencies
    .filter(dep => dep.registry !== CRATES_IO && published.has(placeKey(dep)))
    .map(dep => dep.registry ?? CRATES_IO)
  return new Set([...ownIndexUrls, ...aliases])
}

/**
 * Returns the descriptive fields of a release, with its targets as Cargo finds them: in the
 * manifest, and as `src/lib.rs`, `src/main.rs`, `src/bin/NAME.rs` and `src/bin/NAME/main.rs`.
 */
export function aboutOf(manifest: Manifest, files: readonly ArchiveFile[]): About {
  const paths = new Set(files.map(file => file.path))
  const { lib, bins, autolib, autobins } = manifest.targets
  const names = new Set(bins.map(bin => bin.name ?? manifest.name))
  if (autobins) {
    if (paths.has('src/main.rs')) names.add(manifest.name)
    for (const path of paths) {
      const [, name] = /^src\/bin\/([^/]+?)(?:\.rs|\/main\.rs)$/.exec(path) ?? []
      if (name) names.add(name)
    }
  }
  return {
    ...manifest.about,
    readme_file: findReadme(manifest, files),
    has_lib: lib !== null || (autolib && paths.has('src/lib.rs')),
    bin_names: [...names].sort(),
  }
}

/** Returns the path of the license file in the form of the archive; null for none. */
export function licensePath({ license_file }: Pick<About, 'license_file'>): string | null {
  return license_file?.replace(/^(?:\.\/+)+/, '') ?? null
}

/** Names that Cargo tries when the manifest does not name a README. */
const DEFAULT_READMES = ['README.md', 'README.txt', 'README']

/** Returns the path of the README: `package.readme`, or else a default name; null without one. */
export function findReadme(manifest: Manifest, files: readonly ArchiveFile[]): string | null {
  const paths = new Set(files.map(file => file.path))
  // `./README.md` and `docs//a.md` in the form of the archive.
  const parts = (manifest.readmePath ?? '').split('/').filter(part => part !== '' && part !== '.')
  const candidates = manifest.readmeByDefault ? DEFAULT_READMES : [parts.join('/')]
  return candidates.find(path => paths.has(path)) ?? null
}
