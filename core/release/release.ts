import type { Entry, Features } from '../entry/entry.ts'
import { compareText } from '../entry/entry.ts'
import { compareDependencies } from '../entry/render.ts'
import type { About, Manifest } from '../manifest/manifest.ts'
import type { Name } from '../name.ts'
import type { Archive, ArchiveFile } from '../tarball/read.ts'
import { isPubtime } from '../timestamp.ts'
import type { Version } from '../version.ts'
import { indexUrlKey, metadataPlace, placeKey, toEntryDependency } from './dependency.ts'
import type { PublishMetadata } from './metadata.ts'
import { findReadme, findTargets } from './targets.ts'

/** What publish, `add` and import all produce: one version without its bytes. */
export interface Release {
  readonly name: Name
  readonly version: Version
  readonly entry: Entry
  readonly about: About
  readonly readme: string | null
  /** Length of the `.crate` file. */
  readonly size: number
  readonly files: readonly ArchiveFile[]
  readonly vcsPath: string | null
}

export interface ReleaseParts {
  readonly archive: Archive
  readonly manifest: Manifest
  readonly readme: string | null
  readonly cksum: string
  readonly size: number
  readonly pubtime: string | null
  /** Every URL under which this registry's index is known. */
  readonly ownIndexUrls: ReadonlySet<string>
  /**
   * What the publisher's Cargo sent; it knows aliases of this registry that the settings do not.
   */
  readonly metadata?: PublishMetadata | undefined
}

/** Makes the release from what its `.crate` holds: the packaged manifest is the fact. */
export function makeRelease(parts: ReleaseParts): Release {
  const { archive, manifest, readme, cksum, size, pubtime } = parts
  if (pubtime !== null && !isPubtime(pubtime)) throw new TypeError(`not a pubtime: ${pubtime}`)
  const { name, version, links, features } = manifest
  const own = ownUrls(parts)
  const entry: Entry = {
    name,
    vers: version,
    deps: manifest.dependencies.map(one => toEntryDependency(one, own)).sort(compareDependencies),
    cksum,
    features: sortFeatures(features),
    yanked: false,
    links,
    rust_version: manifest.rustVersion,
    pubtime,
  }
  const { files, vcsPath } = archive
  const about = {
    ...manifest.about,
    readme_file: findReadme(manifest, files),
    ...findTargets(manifest, files),
    ...(vcsPath && { vcs_path: vcsPath }),
  }
  return { name, version, entry, about, readme, size, files, vcsPath }
}

/**
 * The URLs that mean this registry: those of the settings, and those in the manifest that the
 * publisher's Cargo calls "the registry I publish to" (an alias: `localhost` for `127.0.0.1`).
 */
function ownUrls({ manifest, ownIndexUrls, metadata }: ReleaseParts): ReadonlySet<string> {
  const urls = new Set([...ownIndexUrls].map(indexUrlKey))
  const here = new Set(
    metadata?.deps.filter(one => one.registry === null).map(one => placeKey(metadataPlace(one))),
  )
  for (const one of manifest.dependencies) {
    if (one.registryIndex !== null && here.has(placeKey(one)))
      urls.add(indexUrlKey(one.registryIndex))
  }
  return urls
}

function sortFeatures(features: Features): Features {
  return Object.fromEntries(Object.entries(features).sort(([a], [b]) => compareText(a, b)))
}
